import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeWithKafka, openTestKafka } from '@creditlane/events/kafka/test-kafka';
import type { Demo, ServiceAddress } from '@creditlane/local/demo';
import { readJson } from '@creditlane/local/json-file';
import { SERVICES } from '@creditlane/platform/services';
import { identifyProcess, type ProcessIdentity } from '@creditlane/supervision/pid-file';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decide } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { LocalPlatform, processesIn } from './platform/launched-platform.ts';
import { Inbox } from './platform/webhook-inbox.ts';

const run = promisify(execFile);
const DEPLOY = resolve(import.meta.dirname, '../deploy/processes');
const NAMES = SERVICES.map(({ name }) => name);

let dataDir: string;
let started: LocalPlatform[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'creditlane-up-'));
  // Run by root, PostgreSQL is another user's process and must be able to enter.
  await chmod(dataDir, 0o755);
  started = [];
});
afterEach(async () => {
  for (const it of started) await it.stop();
  // What a killed one left behind would outlive its data.
  await down();
  await rm(dataDir, { recursive: true, force: true });
});

function up(...args: string[]): LocalPlatform {
  const it = new LocalPlatform(dataDir, ['--port', '0', ...args], 'processes/up.ts');
  started.push(it);
  return it;
}

async function down(): Promise<string> {
  const { stdout } = await run(process.execPath, [`${DEPLOY}/down.ts`, '--data-dir', dataDir]);
  return stdout;
}

/** Only whoever needs it starts one: a run that has none skips what follows. */
const kafka = await openTestKafka();
await kafka?.close();

describeWithKafka(kafka, 'npm run up', () => {
  test('makes each service a process that people can find, watch and lose', {
    timeout: 180_000,
  }, async () => {
    const platform = up('--replicas', 'decisions=2');
    const demo = await platform.ready(120_000);
    const services = servicesOf(demo);
    expect(Object.keys(services).toSorted()).toEqual([...NAMES, 'decisions-2'].toSorted());
    expect(new Set(Object.values(services).map(({ pid }) => pid)).size).toBe(NAMES.length + 1);
    for (const [name, { opsUrl }] of Object.entries(services)) {
      expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
      expect(platform.output).toMatch(new RegExp(`INFO +${name}: started`));
    }
    const method = 'creditlane.decisions.v1.DecisionsService/GetDecision';
    const uninvited = await fetch(`${services.decisions?.rpcUrl}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(uninvited.status).toBe(401);

    for (const name of ['decisions', 'decisions-2', 'webhook-dispatcher', 'applications']) {
      process.kill(services[name]?.pid ?? 0, 'SIGKILL');
    }
    const after = await eventually('new processes', async () => {
      const now = servicesOf((await readJson<Demo>(join(dataDir, 'demo.json'))) ?? demo);
      const renewed = Object.keys(now).filter((it) => now[it]?.pid !== services[it]?.pid);
      return renewed.length === 4 ? now : undefined;
    });
    expect(platform.output).toMatch(/decisions-2 ended by SIGKILL; it starts again/);
    expect(after.gateway?.pid).toBe(services.gateway?.pid);
    await Promise.all(Object.values(after).map(ready));
    await decide(demo, 'APPROVED');
    const arrivals = await new Inbox(demo.inboxUrl).waitFor(2);
    expect(arrivals.at(-1)?.path).toBe('/application-approved');
  });

  test('recovers from the death of everything, and is ended from elsewhere', {
    timeout: 240_000,
  }, async () => {
    const first = up();
    const before = await first.ready(120_000);
    await new Inbox(before.inboxUrl).behave('hang');
    await decide(before, 'DECLINED');
    await first.stop('SIGKILL');
    await eventually('end of the services', async () => {
      return (await living(before)).length === 0 ? true : undefined;
    });
    await rm(join(dataDir, 'demo.json'));

    const second = up();
    const after = await second.ready(120_000);
    expect(after.applicationId).toBe(before.applicationId);
    const declined = async () =>
      (await new Inbox(after.inboxUrl).arrivals()).filter(
        ({ path }) => path === '/application-declined',
      );
    await expect.poll(declined, { timeout: 60_000 }).toHaveLength(1);

    expect(await down()).toBe('Creditlane has stopped.\n');
    expect(await second.ended()).toBe(0);
    expect([...(await processesIn(dataDir)), ...(await living(after))]).toEqual([]);
    expect(await down()).toMatch(/^Nothing runs on/);
  });

  test('starts Kafka again when it dies, and loses no event', { timeout: 180_000 }, async () => {
    const platform = up();
    const demo = await platform.ready(120_000);
    const pidOfKafka = async () =>
      (await readJson<ProcessIdentity>(join(dataDir, 'kafka/broker-0/broker.pid')))?.pid ?? 0;
    const before = await pidOfKafka();
    await decide(demo, 'PENDING_BANK_CONNECTION');
    process.kill(before, 'SIGKILL');
    // Nobody who writes has to wait: it waits in the outbox.
    for (const decision of ['APPROVED', 'INCOMPLETE', 'BOOKED']) await decide(demo, decision);
    const arrivals = await new Inbox(demo.inboxUrl).waitFor(5, 60_000);
    expect(arrivals.map(({ path }) => path).slice(-4)).toEqual([
      '/pending-banking',
      '/application-approved',
      '/documents-incomplete',
      '/application-booked',
    ]);
    expect(await pidOfKafka()).not.toBe(before);
    expect(platform.output).toMatch(/a Kafka broker ended by SIGKILL; it starts again/);
    // Services are not its concern: none was started again.
    const now = await readJson<Demo>(join(dataDir, 'demo.json'));
    expect(now?.services).toEqual(demo.services);
    expect(await platform.stop()).toBe(0);
    expect(await processesIn(dataDir)).toEqual([]);
  });
});

describe('npm run up is refused in one line', () => {
  test.each([
    [['--brokers', '2'], /--brokers: "2" is neither 1 nor 3/],
    [['--replicas', 'gateway=2'], /--replicas: "gateway=2" must be a service and a number/],
    [['--data-dir'], /--data-dir/],
  ])('with %s', async (args, message) => {
    const platform = up(...args);
    expect(await platform.ended()).toBe(1);
    expect(platform.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });

  test('without Java', async () => {
    const command = run(
      process.execPath,
      [`${DEPLOY}/up.ts`, '--data-dir', dataDir, '--port', '0'],
      { env: { PATH: dirname(process.execPath) } },
    );
    const { code, stdout, stderr } = await command.then(
      () => expect.unreachable(),
      (error) => error,
    );
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`.trim().split('\n')).toEqual([
      expect.stringMatching(/There is no Kafka: java is not installed/),
    ]);
  });
});

function servicesOf({ services }: Demo): Record<string, ServiceAddress> {
  if (services === undefined) throw new Error('demo.json names no services');
  return services;
}

/** The names of those services that have not ended. */
async function living(demo: Demo): Promise<string[]> {
  const all = Object.entries(servicesOf(demo)).map(async ([name, { pid }]) => {
    const { startTime } = await identifyProcess(pid);
    return startTime === '' ? [] : [name];
  });
  return (await Promise.all(all)).flat();
}

async function ready({ opsUrl }: ServiceAddress): Promise<void> {
  await eventually(`readiness at ${opsUrl}`, async () => {
    const answer = await fetch(`${opsUrl}/readyz`).catch(() => undefined);
    return answer?.ok ? true : undefined;
  });
}
