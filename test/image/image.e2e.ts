// The image's root file system, made by the steps of deploy/Dockerfile without a container engine, and every service
// started from it: with a read-only root, not as root, without privileges.
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { HOST } from '@creditlane/local/host';
import { choosePorts } from '@creditlane/local/ports';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { SERVICES } from '@creditlane/platform/services';
import { environmentOf } from '@creditlane/processes/environment';
import { planInstances, portsNeeded } from '@creditlane/processes/instances';
import { Closers } from '@creditlane/runtime/closers';
import type { Readiness } from '@creditlane/runtime/health';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { timed } from '../end-to-end/timed.ts';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';
import { spawnContained } from './contained-process.ts';
import { assembleRootFileSystem, installedPackages, listedPackages } from './root-file-system.ts';

const FOLDER = resolve(import.meta.dirname, '../../.cache/image');
/** Packages of development and tests, none of which belongs in the image. */
const FOREIGN =
  /^(vitest|typescript|knip|jscpd|fast-check|playwright-core|@biomejs\/|@bufbuild\/buf@|@?embedded-postgres)/;

const closers = new Closers({ deadlineMs: 60_000 });
afterAll(() => closers.close());
beforeAll(() => timed('the root file system', () => assembleRootFileSystem(FOLDER)));

test('the packages are those of production, and the bill of materials lists each of them', async () => {
  const installed = await installedPackages(FOLDER);
  expect(installed).not.toEqual([]);
  expect(installed.filter((name) => FOREIGN.test(name))).toEqual([]);
  expect(await listedPackages(FOLDER)).toEqual(expect.arrayContaining(installed));
});

test('a process is not root, has no capability and can write nowhere', async () => {
  const program = `
    const fs = require('node:fs');
    const tried = ['/creditlane/x', '/tmp/x', '/x'].map((path) => {
      try { fs.writeFileSync(path, ''); return path; } catch ({ code }) { return code; }
    });
    const [, capabilities] = /CapEff:\\s+(\\S+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'));
    console.log(process.getuid(), process.getgid(), ...tried, capabilities);`;
  const { stdout } = spawnContained(FOLDER, ['--eval', program], {});
  expect(await text(stdout)).toBe('65532 65532 EROFS EROFS EROFS 0000000000000000\n');
});

test.each(SERVICES)('the compile cache has all modules that $name imports', async ({ name }) => {
  const debug = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
  const { stderr } = spawnContained(FOLDER, [`services/${name}/main.ts`, '--check'], debug);
  const lines = (await text(stderr)).split('\n');
  const read = lines.filter((line) => line.includes('V8 code cache for '));
  expect(read).not.toEqual([]);
  expect(read.filter((line) => !line.includes('was accepted'))).toEqual([]);
  // Each of these modules had to be stripped of its types.
  expect(lines.filter((line) => line.includes('no transpile cache for '))).toEqual([]);
});

test('every service becomes ready, and ends in order when asked', async () => {
  const instances = await startServices();
  const readiness = () =>
    Promise.all(
      instances.map(async ({ name, ports: { ops } }) => {
        const answer = await fetch(`http://${HOST}:${ops}/readyz`).catch(() => undefined);
        const { ready, degraded } = ((await answer?.json()) ?? {}) as Partial<Readiness>;
        return { name, ready, degraded };
      }),
    );
  const wanted = instances.map(({ name }) => ({ name, ready: true, degraded: false }));
  await expect.poll(readiness).toEqual(wanted);
  const gateway = instances.find(({ name }) => name === 'gateway');
  const refused = await fetch(`http://${HOST}:${gateway?.ports.http}/v1/applications`);
  expect(refused.status).toBe(401);

  const ended = instances.map(async ({ name, child, end }) => {
    child.kill('SIGTERM');
    return { name, code: await end };
  });
  expect(await Promise.all(ended)).toEqual(instances.map(({ name }) => ({ name, code: 0 })));
});

/** Starts a process of each service beside PostgreSQL and Kafka. */
async function startServices() {
  const dataDir = await createDataDir('image');
  closers.add('data directory', () => removeDataDir(dataDir));
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    password: 'image',
  });
  closers.add('PostgreSQL', postgres.close);
  const kafka = await startKafka({ brokers: 1, access: 'anyone', dataDir: join(dataDir, 'kafka') });
  closers.add('Kafka', kafka.close);
  const config = { brokers: kafka.brokers.split(','), prefix: '', replication: 1 };
  await ensureTopics({ config, log: silentLog });
  const secrets = makeSecrets();
  const databaseUrls = await prepareDatabases(postgres.adminUrl, secrets);
  const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
  const instances = planInstances(ports, {});
  const platform = { secrets, databaseUrls, ports, kafka: { KAFKA_BROKERS: kafka.brokers } };
  return instances.map((instance) => {
    const env = { LOG_LEVEL: 'error', ...environmentOf(instance, instances, platform) };
    const child = spawnContained(FOLDER, [`services/${instance.service.name}/main.ts`], env);
    for (const output of [child.stdout, child.stderr])
      output.on('data', (text) => process.stderr.write(text));
    const end = once(child, 'close').then(([code]) => code);
    closers.add(instance.name, () => void child.kill('SIGKILL'));
    return { ...instance, child, end };
  });
}
