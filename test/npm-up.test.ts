import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeWithKafka, findKafka } from '@creditlane/events/kafka/test-kafka';
import type { Demo, ServiceAddress } from '@creditlane/local/demo/demo';
import { readJson } from '@creditlane/local/json-file';
import { SERVICES } from '@creditlane/platform/services';
import type { Readiness } from '@creditlane/runtime/health';
import {
  type OtlpReceiver,
  startOtlpReceiver,
} from '@creditlane/runtime/telemetry/test-otlp-receiver';
import { identifyProcess, type ProcessIdentity } from '@creditlane/supervision/pid-file';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  describeKafkaAccess,
  expectKafkaPasswordsGained,
  installWithoutKafkaPasswords,
} from './kafka-access.ts';
import { openDemoDocument, recordDemoDecision } from './platform/api-client.ts';
import {
  type Canary,
  dumpDatabases,
  findCanaries,
  findWalEnd,
  readSegments,
  readWal,
  type Searched,
  seedLeak,
} from './platform/canary-scan.ts';
import { eventually } from './platform/eventually.ts';
import { LaunchedPlatform, listProcessesUsing } from './platform/launched-platform.ts';
import { putCanaries } from './platform/put-canaries.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';
import { WebhookInboxClient } from './platform/webhook-inbox-client.ts';

const run = promisify(execFile);
const DEPLOY = resolve(import.meta.dirname, '../deploy/processes');

function launchUpOn(
  directory: string,
  args: string[] = [],
  env: NodeJS.ProcessEnv = {},
): LaunchedPlatform {
  return new LaunchedPlatform({
    dataDir: directory,
    program: 'processes/up.ts',
    args: ['--port', '0', ...args],
    env,
  });
}

/** Runs `npm run down` and returns what it prints. */
async function runDown(directory: string): Promise<string> {
  const { stdout } = await run(process.execPath, [`${DEPLOY}/down.ts`, '--data-dir', directory]);
  return stdout;
}

// `npm run up` starts its own Kafka.
const kafka = await findKafka();

describeWithKafka(kafka, 'npm run up', () => {
  let directory: string;
  let platform: LaunchedPlatform;
  let demo: Demo;
  let receiver: OtlpReceiver;
  beforeAll(async () => {
    receiver = await startOtlpReceiver();
    directory = await createDataDir('npm-up');
    platform = launchUpOn(directory, ['--replicas', 'decisions=2'], {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      LOG_LEVEL: 'debug',
    });
    demo = await platform.ready();
  }, 180_000);
  afterAll(async () => {
    await platform.stop();
    await receiver.close();
    await runDown(directory);
    await removeDataDir(directory);
  });
  const readDemo = () => readJson<Demo>(join(directory, 'demo.json'));

  // The first of its tests requires that nobody has decided on the demo application.
  describeKafkaAccess(() => ({ dataDir: directory, demo, output: platform.output }));

  test('starts each service as a process listed in demo.json, and starts a killed process again', {
    timeout: 180_000,
  }, async () => {
    const services = servicesOf(demo);
    expect(Object.keys(services).toSorted()).toEqual(
      [...SERVICES.map(({ name }) => name), 'decisions-2'].toSorted(),
    );
    expect(new Set(Object.values(services).map(({ pid }) => pid)).size).toBe(SERVICES.length + 1);
    for (const [name, { opsUrl }] of Object.entries(services)) {
      expect((await fetch(`${opsUrl}/readyz`)).status).toBe(200);
      expect(platform.output).toMatch(new RegExp(`INFO +${name}: started`));
    }
    const method = 'creditlane.decisions.v1.DecisionsService/GetDecision';
    const unauthenticated = await fetch(`${services.decisions?.rpcUrl}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(unauthenticated.status).toBe(401);

    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await inbox.clear();
    for (const name of ['decisions', 'decisions-2', 'webhook-dispatcher', 'applications']) {
      process.kill(services[name]?.pid ?? 0, 'SIGKILL');
    }
    const after = await eventually('new processes', async () => {
      const current = servicesOf((await readDemo()) ?? demo);
      const restarted = Object.keys(current).filter(
        (name) => current[name]?.pid !== services[name]?.pid,
      );
      return restarted.length === 4 ? current : undefined;
    });
    expect(platform.output).toMatch(/decisions-2 ended by SIGKILL; it starts again/);
    expect(after.gateway?.pid).toBe(services.gateway?.pid);
    await Promise.all(Object.values(after).map(waitUntilReady));
    // No test before this one has recorded this decision: an older webhook that is repeated has another path.
    await recordDemoDecision(demo, 'DECLINED');
    const [webhook] = await inbox.waitFor(1);
    expect(webhook?.path).toBe('/application-declined');
  });

  test('npm run operate runs the commands of operators beside the services', {
    timeout: 120_000,
  }, async () => {
    const operate = async (...args: string[]) => {
      const command = [`${DEPLOY}/operate.ts`, '--data-dir', directory, ...args];
      const { stdout } = await run(process.execPath, command);
      return stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    expect(await operate('webhook-dispatcher', '--dead-letters')).toEqual([{ listed: 0 }]);
    const verified = await operate('credit-file', '--verify-audit');
    expect(verified.at(-1)).toEqual({ chains: verified.length - 1, broken: 0 });
    expect(platform.output).toContain('npm run operate -- --help');
  });

  test('the link to the PDF of the demo’s credit file opens as it is', async () => {
    expect((await openDemoDocument(demo)).status).toBe(200);
  });

  test('secrets put in at the API are nowhere in the clear in what the platform stores and writes', {
    timeout: 180_000,
  }, async () => {
    const adminUrl = await findAdminUrl(directory);
    const since = await findWalEnd(adminUrl);
    // The launcher itself prints a key, for the person who started it.
    const announced = platform.output.length;
    const { canaries, applicationId, requestId } = await putCanaries(demo);
    const seeded = await seedLeak(adminUrl);
    // An event that came out as a webhook is in Kafka.
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    const isExported = async () =>
      (await inbox.list()).some(({ path }) => path === '/application-exported');
    await expect.poll(isExported, { timeout: 60_000 }).toBe(true);
    const isTraced = () => receiver.texts.some((text) => text.includes(applicationId));
    await expect.poll(isTraced, { timeout: 60_000 }).toBe(true);
    async function* places(): AsyncGenerator<Searched> {
      yield* dumpDatabases(adminUrl);
      yield* readWal(adminUrl, since);
      yield {
        place: 'log of PostgreSQL',
        bytes: await readFile(`${directory}/postgres/server.log`),
      };
      yield* readSegments(join(directory, 'kafka'));
      yield { place: 'traces', bytes: Buffer.from(receiver.texts.join('\n')) };
      yield { place: 'logs of the services', bytes: Buffer.from(platform.output.slice(announced)) };
    }
    const known = { name: 'id', texts: [applicationId, requestId] };
    const installed = await findSecrets(directory);
    const found = await findCanaries(places(), [...canaries, ...installed, known, seeded]);
    // The search finds what is in the clear, in each kind of place and in each encoding.
    const isKnown = (it: string) => it.startsWith('id ') || it.startsWith('seeded leak ');
    const leakTable = 'postgres public.leak';
    expect(found.filter(isKnown)).toEqual(
      expect.arrayContaining([
        'id as text in Kafka',
        'id as text in WAL',
        'id as text in creditlane_applications public.outbox',
        'id as text in logs of the services',
        'id as text in traces',
        ...['UTF-16', 'base64', 'hex', 'text'].map((it) => `seeded leak as ${it} in ${leakTable}`),
        'seeded leak as compressed text in WAL',
      ]),
    );
    expect(found.filter((it) => !isKnown(it))).toEqual([]);
  });

  test('starts a killed Kafka broker again, no event is lost, and Ctrl-C leaves no process', {
    timeout: 180_000,
  }, async () => {
    const readKafkaPid = async () =>
      (await readJson<ProcessIdentity>(join(directory, 'kafka/broker-0/broker.pid')))?.pid ?? 0;
    const services = (await readDemo())?.services;
    const inbox = new WebhookInboxClient(demo.inboxUrl);
    await inbox.clear();
    const before = await readKafkaPid();
    await recordDemoDecision(demo, 'PENDING_BANK_CONNECTION');
    process.kill(before, 'SIGKILL');
    // Decisions are accepted while Kafka is down: their events wait in the outbox.
    for (const decision of ['APPROVED', 'INCOMPLETE', 'BOOKED'])
      await recordDemoDecision(demo, decision);
    const webhooks = await inbox.waitFor(4, 60_000);
    expect(webhooks.map(({ path }) => path)).toEqual([
      '/pending-banking',
      '/application-approved',
      '/documents-incomplete',
      '/application-booked',
    ]);
    expect(await readKafkaPid()).not.toBe(before);
    expect(platform.output).toMatch(/a Kafka broker ended by SIGKILL; it starts again/);
    // No service was started again.
    expect((await readDemo())?.services).toEqual(services);
    const exitCode = await platform.stop();
    expect(exitCode, platform.output).toBe(0);
    expect(await listProcessesUsing(directory)).toEqual([]);
  });
});

describeWithKafka(kafka, 'npm run up on the data of another run', () => {
  let directory: string;
  let platform: LaunchedPlatform;
  beforeAll(async () => {
    directory = await createDataDir('npm-up');
    await installWithoutKafkaPasswords(directory);
    platform = launchUpOn(directory);
    await platform.ready();
  }, 180_000);
  // Ends the processes that a killed platform left behind, before their data is removed.
  afterAll(async () => {
    await platform?.stop();
    await runDown(directory);
    await removeDataDir(directory);
  });

  test('an installation without passwords for Kafka keeps its events and gains the passwords', {
    timeout: 180_000,
  }, async () => {
    const demo = await platform.ready();
    const { output } = platform;
    await expectKafkaPasswordsGained({ dataDir: directory, demo, output });
  });

  test('after all processes were killed a new start delivers what was waiting, and npm run down stops it', {
    timeout: 240_000,
  }, async () => {
    const before = await platform.ready();
    await new WebhookInboxClient(before.inboxUrl).setBehaviour('hang');
    await recordDemoDecision(before, 'DECLINED');
    await platform.stop('SIGKILL');
    await eventually('end of the services, Kafka and PostgreSQL', async () => {
      const living = [...(await listLiving(before)), ...(await listProcessesUsing(directory))];
      return living.length === 0 ? true : undefined;
    });
    await rm(join(directory, 'demo.json'));

    platform = launchUpOn(directory);
    const after = await platform.ready();
    expect(after.applicationId).toBe(before.applicationId);
    const declined = async () =>
      (await new WebhookInboxClient(after.inboxUrl).list()).filter(
        ({ path }) => path === '/application-declined',
      );
    await expect.poll(declined, { timeout: 60_000 }).toHaveLength(1);

    expect(await runDown(directory)).toBe('Creditlane has stopped.\n');
    expect(await platform.ended()).toBe(0);
    expect([...(await listProcessesUsing(directory)), ...(await listLiving(after))]).toEqual([]);
    expect(await runDown(directory)).toMatch(/^Nothing runs on/);
  });
});

describe('npm run up is refused in one line', () => {
  let dataDir: string;
  let platform: LaunchedPlatform | undefined;
  beforeEach(async () => {
    dataDir = await createDataDir('npm-up');
    platform = undefined;
  });
  afterEach(async () => {
    // One that is not refused runs.
    await platform?.stop();
    await removeDataDir(dataDir);
  });

  test.each([
    { args: ['--brokers', '2'], message: /--brokers: "2" is neither 1 nor 3/ },
    {
      args: ['--replicas', 'gateway=2'],
      message: /--replicas: "gateway=2" must be a service and a number/,
    },
    { args: ['--data-dir'], message: /--data-dir/ },
  ])('with $args', async ({ args, message }) => {
    platform = launchUpOn(dataDir, args);
    expect(await platform.ended()).toBe(1);
    expect(platform.output.trim().split('\n')).toEqual([expect.stringMatching(message)]);
  });

  test('on a machine without Java', async () => {
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

/** The names of the services whose processes are running. */
async function listLiving(demo: Demo): Promise<string[]> {
  const all = Object.entries(servicesOf(demo)).map(async ([name, { pid }]) => {
    const { startTime } = await identifyProcess(pid);
    return startTime === '' ? [] : [name];
  });
  return (await Promise.all(all)).flat();
}

/** The keys that the installation has generated, without their ids and dates: in base64, and as their bytes. */
async function findSecrets(directory: string): Promise<Canary[]> {
  const secrets = await readJson<Record<string, unknown>>(join(directory, 'secrets.json'));
  return ['keyRing', 'requestDigestKey', 'documentLinkKey'].map((name) => {
    const [text, ...others] = String(secrets?.[name]).match(/[A-Za-z0-9+/]{43}=/g) ?? [];
    if (text === undefined || others.length > 0) {
      throw new Error(`${name} of secrets.json is not one key`);
    }
    return { name, texts: [text, Buffer.from(text, 'base64')] };
  });
}

/** The URL by which the installation's PostgreSQL is administrated. */
async function findAdminUrl(directory: string): Promise<string> {
  const pidFile = await readFile(join(directory, 'postgres/cluster/postmaster.pid'), 'utf8');
  const secrets = await readJson<{ postgresPassword: string }>(join(directory, 'secrets.json'));
  const [, , , port] = pidFile.split('\n');
  const password = encodeURIComponent(secrets?.postgresPassword ?? '');
  return `postgres://creditlane_admin:${password}@127.0.0.1:${port}/postgres`;
}

async function waitUntilReady({ opsUrl }: ServiceAddress): Promise<void> {
  await eventually(`readiness at ${opsUrl}`, async () => {
    const answer = await fetch(`${opsUrl}/readyz`).catch(() => undefined);
    if (!answer?.ok) return undefined;
    const { unavailableOperations = [] } = (await answer.json()) as Readiness;
    return unavailableOperations.length === 0 || undefined;
  });
}
