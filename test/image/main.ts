// `npm run test:image`: makes the image's root file system by the steps of deploy/Dockerfile, without a container
// engine, and starts every service from it: with a read-only root, not as root, without privileges.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
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
import { silentLog } from '@creditlane/runtime/test-log';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';
import { spawnContained } from './contained-process.ts';
import { assembleRootFileSystem, installedPackages, listedPackages } from './root-file-system.ts';

const FOLDER = resolve(import.meta.dirname, '../../.cache/image');
const READY_WITHIN_MS = 120_000;
/** Packages of development and tests, none of which belongs into the image. */
const FOREIGN =
  /^(vitest|typescript|knip|jscpd|fast-check|playwright-core|@biomejs\/|@bufbuild\/buf@|@?embedded-postgres)/;

if (process.platform !== 'linux' || process.getuid?.() !== 0) {
  print('NOT TESTED: the image is tested as root on Linux, which makes the mounts.');
  process.exit(1);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

let failed = 0;
const steps: (() => Promise<unknown>)[] = [];
const report = (what: string, problem?: unknown) => {
  if (problem !== undefined) failed += 1;
  print(
    `${problem === undefined ? '✓' : '✗'} ${what}${problem === undefined ? '' : `: ${problem}`}`,
  );
};

async function checkContents(): Promise<void> {
  const installed = await installedPackages(FOLDER);
  const foreign = installed.filter((name) => FOREIGN.test(name));
  report(`${installed.length} packages, all of production`, foreign.join(', ') || undefined);
  const listed = new Set(await listedPackages(FOLDER));
  const missing = installed.filter((name) => !listed.has(name));
  report('the bill of materials lists each of them', missing.join(', ') || undefined);
}

async function checkContainment(): Promise<void> {
  const program = `
    const fs = require('node:fs');
    const tried = ['/creditlane/x', '/tmp/x', '/x'].map((path) => {
      try { fs.writeFileSync(path, ''); return path; } catch ({ code }) { return code; }
    });
    const { CapEff = '' } = Object.fromEntries(fs.readFileSync('/proc/self/status', 'utf8').split('\\n').map((line) => line.split(/:\\s*/)));
    console.log(JSON.stringify([process.getuid(), process.getgid(), ...tried, CapEff]));`;
  const child = spawnContained(FOLDER, ['--eval', program], {});
  let output = '';
  child.stdout?.on('data', (text) => (output += text));
  await once(child, 'close');
  const wanted = JSON.stringify([65532, 65532, 'EROFS', 'EROFS', 'EROFS', '0000000000000000']);
  report(
    'a process is not root, has no capability and can write nowhere',
    output.trim() === wanted ? undefined : output,
  );
}

/** Expects that Node compiles nothing that a service imports. */
async function checkCompileCache(): Promise<void> {
  for (const { name } of SERVICES) {
    const debug = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' };
    const args = [`services/${name}/main.ts`, '--check'];
    const child = spawnContained(FOLDER, args, debug, 'pipe');
    const lines = (await text(child.stderr as Readable)).split('\n');
    const read = lines.filter((line) => line.includes('V8 code cache for '));
    const compiled = read.filter((line) => !line.includes('was accepted')).length;
    const stripped = lines.filter((line) => line.includes('no transpile cache for ')).length;
    report(
      `the compile cache has all modules that ${name} imports`,
      read.length === 0 || compiled + stripped > 0
        ? `of ${read.length}, ${compiled} were compiled; ${stripped} had to be stripped of types`
        : undefined,
    );
  }
}

/** Starts every service, and resolves when all are ready and the gateway answers. */
async function checkServices(): Promise<void> {
  const dataDir = await createDataDir('image');
  steps.push(() => removeDataDir(dataDir));
  const postgres = await startEmbeddedPostgres({
    dataDir: join(dataDir, 'postgres'),
    password: 'image',
  });
  steps.push(() => postgres.close());
  const kafka = await startKafka({ brokers: 1, access: 'anyone', dataDir: join(dataDir, 'kafka') });
  steps.push(() => kafka.close());
  await ensureTopics({
    config: { brokers: kafka.brokers.split(','), prefix: '', replication: 1 },
    log: silentLog,
  });
  const secrets = makeSecrets();
  const databaseUrls = await prepareDatabases(postgres.adminUrl, secrets);
  const ports = await choosePorts({ first: 0, host: HOST, services: portsNeeded({}) });
  const instances = planInstances(ports, {});
  const platform = { secrets, databaseUrls, ports, kafka: { KAFKA_BROKERS: kafka.brokers } };
  for (const instance of instances) {
    const env = { LOG_LEVEL: 'error', ...environmentOf(instance, instances, platform) };
    const child = spawnContained(FOLDER, [`services/${instance.service.name}/main.ts`], env);
    const ended = once(child, 'close');
    steps.push(async () => {
      print(`  ${instance.name} holds ${await memoryMib(child.pid)} MiB of memory`);
      child.kill('SIGTERM');
      const [code] = await ended;
      report(`${instance.name} ends when asked`, code === 0 ? undefined : `exit code ${code}`);
    });
    child.stdout?.on('data', (text) => process.stderr.write(text));
  }
  await Promise.all(
    instances.map(async ({ name, ports: { ops } }) => {
      const begin = performance.now();
      const problem = await readiness(`http://${HOST}:${ops}/readyz`);
      report(
        `${name} is ready after ${((performance.now() - begin) / 1000).toFixed(1)} s`,
        problem,
      );
    }),
  );
  const gateway = instances.find(({ name }) => name === 'gateway');
  const { status } = await fetch(`http://${HOST}:${gateway?.ports.http}/v1/applications`);
  report(
    'the gateway refuses a request without a key',
    status === 401 ? undefined : `status ${status}`,
  );
}

/** The resident memory of a process. */
async function memoryMib(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024);
}

/** Undefined once the process is ready and not degraded, else what its last answer was. */
async function readiness(url: string): Promise<string | undefined> {
  const until = performance.now() + READY_WITHIN_MS;
  for (let answer = 'no answer'; ; await delay(250)) {
    const response = await fetch(url).catch(() => undefined);
    if (response) {
      answer = await response.text();
      const { ready, degraded } = JSON.parse(answer);
      if (ready && !degraded) return undefined;
    }
    if (performance.now() > until) return answer;
  }
}

try {
  print('Making the root file system by the steps of deploy/Dockerfile');
  await assembleRootFileSystem(FOLDER);
  await checkContents();
  await checkContainment();
  await checkCompileCache();
  await checkServices();
} catch (error) {
  report('the test of the image', error);
} finally {
  for (const step of steps.reverse()) await step();
}
print(`${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
