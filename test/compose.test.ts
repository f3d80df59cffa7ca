import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { composeFile } from '@creditlane/compose/compose-file';
import { composeVariables } from '@creditlane/compose/env-file';
import { type EmbeddedKafkaOptions, startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { describeWithKafka, findKafka } from '@creditlane/events/kafka/test-kafka';
import { askController, attemptAll } from '@creditlane/events/kafka/test-kafka-attempts';
import { createTestBus } from '@creditlane/events/kafka/test-kafka-bus';
import { KAFKA } from '@creditlane/events/kafka-config';
import { DATABASES, SERVICES } from '@creditlane/platform/services';
import { settingsPage } from '@creditlane/platform/settings-page';
import { compiledModules } from '@creditlane/runtime/compiled-modules';
import { readEnv } from '@creditlane/runtime/env';
import { silentLog } from '@creditlane/runtime/test-log';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';

interface ComposeService {
  image: string;
  command?: string[];
  environment: Record<string, string>;
  ports?: string[];
  read_only?: boolean;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
}

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '..');
const NAMES = SERVICES.map(({ name }) => name);
const text = readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8');
const compose: { services: Record<string, ComposeService> } = parse(text, { merge: true });
const variables = composeVariables(SERVICES);

/** A service's environment as compose gives it, with the variables filled in. */
function environmentOf(service: string): Record<string, string> {
  const { environment = {} } = compose.services[service] ?? {};
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, filledIn(value)]),
  );
}

function filledIn(text: string): string {
  return text.replaceAll(/\$\{(\w+)(?::\?[^}]*|:-([^}]*))?\}/g, (_, name, otherwise) => {
    const value = variables[name] ?? otherwise;
    if (value === undefined) throw new Error(`npm run secrets makes no ${name}`);
    return value;
  });
}

function check(program: string, settings: Record<string, string>) {
  const env = { ...settings, ...compiledModules() };
  return run(process.execPath, [join(ROOT, program), '--check'], { env });
}

test.each(NAMES)(
  'compose runs %s from the one image, read-only, without core dumps, with a configuration that the service accepts',
  async (name) => {
    const program = `services/${name}/main.ts`;
    expect(compose.services[name]).toMatchObject({
      image: 'creditlane',
      command: [program],
      read_only: true,
      ulimits: { core: 0 },
      healthcheck: { test: expect.anything() },
    });
    const { stdout } = await check(program, environmentOf(name));
    expect(stdout).toBe('configuration ok\n');
  },
);

test('a service in compose is healthy while it says that it is ready', async () => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const [checks] = NAMES.map((name) => compose.services[name]?.healthcheck?.test);
  for (const name of NAMES) expect(compose.services[name]?.healthcheck?.test).toEqual(checks);
  expect(checks).toEqual(['CMD', 'node', '-e', expect.any(String)]);
  const program = checks?.[3]?.replace('9090', String(port)) ?? '';
  const exitCode = async () => {
    const child = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    return code;
  };
  expect(await exitCode()).toBe(0);
  status = 503;
  expect(await exitCode()).toBe(1);
  server.close();
  expect(await exitCode()).toBe(1);
});

test('links of the gateway in compose lead to the port that compose publishes, unless PUBLIC_URL is given', () => {
  const { ports: [published = ''] = [] } = compose.services.gateway ?? {};
  const { PORT = '8080', PUBLIC_URL } = environmentOf('gateway');
  expect(published).toBe(`${PUBLIC_URL?.replace('http://', '')}:${PORT}`);
  expect(compose.services.gateway?.environment.PUBLIC_URL).toMatch(/^\$\{PUBLIC_URL:-http:/);
});

test('compose runs a program that creates the topics, with a configuration that it accepts', async () => {
  const [program = ''] = compose.services.topics?.command ?? [];
  const { stdout } = await check(program, environmentOf('topics'));
  expect(stdout).toBe('configuration ok\n');
});

const kafka = await findKafka();

describeWithKafka(kafka, 'the Kafka of compose', () => {
  const ofKafka = environmentOf('kafka');
  let dataDir: string;
  let ports: number[];
  beforeEach(async () => {
    dataDir = await createDataDir('compose-kafka');
    ports = await findFreePorts(2);
  });
  afterEach(() => removeDataDir(dataDir));

  /** A broker with the id and the addresses that stand for those of the container. */
  function start(access: EmbeddedKafkaOptions['access'], settings: Record<string, string> = {}) {
    const [port, controllerPort] = ports;
    const atLoopback = {
      'node.id': ofKafka.KAFKA_NODE_ID ?? '',
      'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    };
    const [client, controller] = (settings.listeners ?? '')
      .split(',')
      .map((it) => it.split(':')[0]);
    const listeners = `${client}://127.0.0.1:${port},${controller}://127.0.0.1:${controllerPort}`;
    const advertised = `${client}://127.0.0.1:${port}`;
    const named = client ? { listeners, 'advertised.listeners': advertised } : {};
    const properties = { ...settings, ...atLoopback, ...named };
    return startKafka({ brokers: 1, dataDir, ports, access, properties });
  }

  /** The settings that the image makes of the container's environment. */
  const settings = Object.fromEntries(
    Object.entries(ofKafka).map(([name, value]) => [
      name.replace('KAFKA_', '').toLowerCase().replaceAll('_', '.'),
      value,
    ]),
  );
  const configOf = (service: string, brokers: string) =>
    readEnv({ ...environmentOf(service), KAFKA_BROKERS: brokers }, KAFKA.read);
  const message = (key: string) => {
    return { topic: 'creditlane.decisions.v1', key, headers: {}, value: Buffer.from(key) };
  };

  test('takes services with their passwords and no other clients, and keeps the events of a volume without passwords', {
    timeout: 120_000,
  }, async () => {
    const earlier = await start('anyone');
    const open = { brokers: [earlier.brokers], prefix: '', replication: 1 };
    await ensureTopics({ config: open, log: silentLog });
    const bus = createTestBus(open);
    await bus.publish([message('kept')]);
    await bus.close();
    await earlier.close();

    const { brokers, close } = await start('anyone', settings);
    onTestFinished(close);
    const consumed: string[] = [];
    // Services start before the access to topics is made.
    const dispatcher = createTestBus(configOf('webhook-dispatcher', brokers));
    const decisions = createTestBus(configOf('decisions', brokers));
    onTestFinished(() =>
      Promise.all([dispatcher.close(), decisions.close()]).then(() => undefined),
    );
    await dispatcher.subscribe({
      group: 'webhook-dispatcher',
      topics: ['creditlane.decisions.v1'],
      handle: async (batch) => void consumed.push(...batch.map(({ key }) => key)),
    });
    await expect(decisions.publish([message('too early')])).rejects.toThrow(/authorized/);

    const [program = ''] = compose.services.topics?.command ?? [];
    const env = { ...environmentOf('topics'), KAFKA_BROKERS: brokers };
    await run(process.execPath, [join(ROOT, program)], { env });
    // The broker learns of the access a moment after it was made.
    await vi.waitFor(() => decisions.publish([message('new')]), 20_000);
    // Events of two partitions come in any order, and again when a commit of the consumer was lost.
    const different = () => [...new Set(consumed)].toSorted();
    await expect.poll(different, { timeout: 20_000 }).toEqual(['kept', 'new']);

    const forged = { messages: [message('forged')], group: 'webhook-dispatcher' };
    const refused = await attemptAll({ brokers: [brokers], prefix: '' }, forged);
    for (const outcome of Object.values(refused)) expect(outcome).toMatch('Closed connection');
    expect(await askController(ports[1] ?? 0)).toBe('closed');
    expect((await attemptAll(configOf('applications', brokers), forged)).publish).toMatch(
      'TOPIC_AUTHORIZATION_FAILED',
    );
    expect(different()).toEqual(['kept', 'new']);
  });

  test('is healthy once it listens, by a command without a password', async () => {
    const [, ...command] = compose.services.kafka?.healthcheck?.test ?? [];
    const server = createTcpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const check = () => {
      const [shell = '', ...args] = command.map((text) => text.replace('9092', String(port)));
      return once(spawn(shell, args, { stdio: 'ignore' }), 'exit').then(([code]) => code);
    };
    expect(await check()).toBe(0);
    server.close();
    await once(server, 'close');
    expect(await check()).toBe(1);
  });
});

test('compose creates the databases before the services that own them start', async () => {
  const [program = ''] = compose.services.databases?.command ?? [];
  const { stdout } = await check(program, environmentOf('databases'));
  expect(stdout).toBe('configuration ok\n');
  for (const name of Object.keys(DATABASES)) {
    const { databases } = compose.services[name]?.depends_on ?? {};
    expect(databases).toEqual({ condition: 'service_completed_successfully' });
  }
});

test('compose gives each service that has a database one of its own', () => {
  const made = (environmentOf('databases').DATABASES ?? '').split(', ');
  expect(made).toHaveLength(Object.keys(DATABASES).length);
  for (const [service, name] of Object.entries(DATABASES)) {
    const { username, password, pathname } = new URL(environmentOf(service).DATABASE_URL ?? '');
    expect({ username, pathname }).toEqual({ username: name, pathname: `/${name}` });
    expect(made).toContain(`${name}:${password}`);
  }
});

test('compose gives a database that exists the password that deploy/.env has now', () => {
  expect(environmentOf('databases').SET_PASSWORDS).toBe('true');
});

test('every address in the environment of a service is the gRPC port of a service', () => {
  for (const name of NAMES) {
    for (const [variable, address] of Object.entries(environmentOf(name))) {
      if (!variable.endsWith('_ADDRESS')) continue;
      const [host = '', port] = address.split(':');
      expect(NAMES).toContain(host);
      expect(port).toBe('9000');
    }
  }
});

test('compose.yaml and docs/settings.md are up to date with the manifests', () => {
  const page = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  const advice = 'run npm run generate';
  expect(text, advice).toBe(composeFile(SERVICES));
  expect(page, advice).toBe(settingsPage(SERVICES));
});

test('the list of services has every folder of services/ with a manifest', () => {
  const folders = readdirSync(join(ROOT, 'services')).filter((name) =>
    existsSync(join(ROOT, 'services', name, 'service.ts')),
  );
  expect(folders.toSorted()).toEqual(NAMES.toSorted());
});
