// Nobody without the password of a user of the platform's Kafka publishes, consumes or lists events, and no
// service does more than its manifest declares. An installation without passwords gains them at its start.
import { once } from 'node:events';
import { chmod, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { KAFKA_ADMIN } from '@creditlane/embedded-kafka/broker-access';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
import { describeWithKafka, openTestKafka } from '@creditlane/events/kafka/test-kafka';
import {
  announceRequest,
  askController,
  attemptAll,
  forgeBooking,
} from '@creditlane/events/kafka/test-kafka-attempts';
import { createTestBus } from '@creditlane/events/kafka/test-kafka-bus';
import type { KafkaConfig } from '@creditlane/events/kafka-config';
import type { Demo } from '@creditlane/local/demo/demo';
import { readJson } from '@creditlane/local/json-file';
import type { Secrets } from '@creditlane/platform/secrets';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordDemoDecision } from './platform/api-client.ts';
import { LaunchedPlatform, listProcessesUsing } from './platform/launched-platform.ts';
import { createDataDir, removeDataDir } from './platform/temporary-data-dir.ts';
import { WebhookInboxClient } from './platform/webhook-inbox-client.ts';

const EARLIER = resolve(import.meta.dirname, 'earlier-installation');
const START = { timeout: 180_000 };
const DECISIONS = 'creditlane.decisions.v1';
const APPLICATIONS = 'creditlane.applications.v1';
const INTEGRATIONS = 'creditlane.integrations.v1';
/** The names by which kafkajs reports a connection that the broker closes, and a password it refuses. */
const CLOSED = /Closed connection/;
/** kafkajs looks for the coordinator of a group that it may not use until it gives up. */
const GROUP_REFUSED = /GROUP_AUTHORIZATION_FAILED|GroupCoordinatorNotFound/;
const WRONG = /SASL PLAIN authentication failed/;

// Only finds out whether there is a Kafka: `npm run up` starts its own.
const kafka = await openTestKafka();
await kafka?.close();

/** A platform of `npm run up` on its data directory, with what a client of its Kafka needs to know. */
class PlatformUnderTest {
  readonly dataDir: string;
  readonly launched: LaunchedPlatform;
  demo = {} as Demo;

  constructor(dataDir: string) {
    this.dataDir = dataDir;
    this.launched = new LaunchedPlatform({ dataDir, program: 'processes/up.ts' });
  }

  async start(): Promise<void> {
    this.demo = await this.launched.ready(120_000);
  }

  /** The ports of the broker and of its controller. */
  async ports(): Promise<number[]> {
    const settings = await readFile(join(this.dataDir, 'kafka/broker-0/server.properties'), 'utf8');
    const [, listeners = ''] = /^listeners=(.*)$/m.exec(settings) ?? [];
    return [...listeners.matchAll(/:(\d+)/g)].map(([, port]) => Number(port));
  }

  async config(username?: string, password = ''): Promise<KafkaConfig> {
    const [port] = await this.ports();
    const login = () => ({ username: username ?? '', password });
    const sasl = { mechanism: 'plain', login } as const;
    return { brokers: [`127.0.0.1:${port}`], prefix: '', ...(username && { sasl }) };
  }

  async secrets(): Promise<Secrets> {
    return (await readJson<Secrets>(join(this.dataDir, 'secrets.json'))) as Secrets;
  }

  /** The configuration of a service, as its process has it. */
  async configOf(service: keyof Secrets['services']): Promise<KafkaConfig> {
    return this.config(service, (await this.secrets()).services[service].kafkaPassword);
  }

  async administrator(): Promise<KafkaConfig> {
    return this.config(KAFKA_ADMIN, (await this.secrets()).kafkaPassword);
  }

  async stop(): Promise<void> {
    await this.launched.stop();
    await removeDataDir(this.dataDir);
  }
}

describeWithKafka(kafka, "the platform's Kafka", () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = new PlatformUnderTest(await createDataDir('kafka-access'));
    await platform.start();
  }, 180_000);
  afterAll(() => platform.stop());

  const forged = () => ({ messages: [forgeBooking(platform.demo)], group: 'webhook-dispatcher' });

  test('refuses a client without credentials, and no webhook tells of its event', async () => {
    const refused = await attemptAll(await platform.config(), forged());
    expect(refused).toEqual({
      publish: expect.stringMatching(CLOSED),
      consume: expect.stringMatching(CLOSED),
      list: expect.stringMatching(CLOSED),
    });
    await recordDemoDecision(platform.demo, 'APPROVED');
    const inbox = new WebhookInboxClient(platform.demo.inboxUrl);
    await expect
      .poll(async () => (await inbox.list()).map(({ path }) => path), { timeout: 20_000 })
      .toEqual(['/awaiting-decision', '/application-approved']);
  });

  test.each([
    ['the wrong password', 'decisions', 'wrong'],
    ['the password that an empty setting would be', 'decisions', ''],
    ['a name that no service has', 'intruder', 'wrong'],
    ['the wrong password of the administrator', KAFKA_ADMIN, 'wrong'],
  ])('refuses a client with %s', async (_, username, password) => {
    const refused = await attemptAll(await platform.config(username, password), forged());
    const refusal = password === '' ? /SASL PLAIN|Closed connection|password/ : WRONG;
    for (const outcome of Object.values(refused)) expect(outcome).toMatch(refusal);
  });

  test('has a controller that refuses a request without credentials', async () => {
    const [, controller = 0] = await platform.ports();
    expect(await askController(controller)).toBe('closed');
  });

  test('has a broker and a controller that read no request of more than 8 KiB without credentials', async () => {
    for (const port of await platform.ports()) {
      const socket = await announceRequest(port, 8 * 1024 + 1);
      if (!socket.destroyed) await once(socket, 'close');
    }
  });

  test('lets a service use its own topics and group, and no others', async () => {
    const dispatcher = await attemptAll(await platform.configOf('webhook-dispatcher'), forged());
    expect(dispatcher.publish).toMatch('TOPIC_AUTHORIZATION_FAILED');
    expect(dispatcher.list).toEqual([APPLICATIONS, DECISIONS, INTEGRATIONS]);

    const applications = await attemptAll(await platform.configOf('applications'), forged());
    expect(applications.publish).toMatch('TOPIC_AUTHORIZATION_FAILED');
    expect(applications.consume).toMatch('TOPIC_AUTHORIZATION_FAILED');
    expect(applications.list).toEqual([APPLICATIONS]);

    const decisions = await attemptAll(await platform.configOf('decisions'), {
      messages: [{ ...forgeBooking(platform.demo), topic: APPLICATIONS }],
      group: 'webhook-dispatcher',
    });
    expect(decisions.publish).toMatch('TOPIC_AUTHORIZATION_FAILED');
    expect(decisions.consume).toMatch(GROUP_REFUSED);
    expect(decisions.list).toEqual([APPLICATIONS, DECISIONS]);
  });

  test('has passwords that are in no command line and no log, and files that others cannot read', async () => {
    const { kafkaPassword, postgresPassword, services } = await platform.secrets();
    const passwords = Object.values(services).map((service) => service.kafkaPassword);
    const logs = await Promise.all(
      ['kafka/broker-0/server.log', 'postgres/server.log'].map((name) =>
        readFile(join(platform.dataDir, name), 'utf8'),
      ),
    );
    const visible = [
      ...(await listProcessesUsing(platform.dataDir)),
      ...logs,
      platform.launched.output,
    ].join('\n');
    for (const secret of [kafkaPassword, postgresPassword, ...passwords]) {
      expect(secret).toMatch(/^[\w-]{32}$/);
      expect(visible).not.toContain(secret);
    }
    await expectClosed(platform.dataDir);
  });
});

describeWithKafka(kafka, 'an installation that was made without passwords for Kafka', () => {
  let platform: PlatformUnderTest;
  afterAll(() => platform.stop());

  test('keeps its events and gains the passwords', START, async () => {
    const dataDir = await createDataDir('kafka-without-passwords');
    await writeFile(join(dataDir, 'creditlane.json'), '{"layoutVersion":1}\n');
    await copyFile(join(EARLIER, 'secrets.json'), join(dataDir, 'secrets.json'));
    const cluster = await startKafka({
      brokers: 1,
      dataDir: join(dataDir, 'kafka'),
      access: 'anyone',
    });
    const before: KafkaConfig = { brokers: cluster.brokers.split(','), prefix: '', replication: 1 };
    await ensureTopics({ config: before, log: silentLog });
    const bus = createTestBus(before);
    await bus.publish([{ topic: DECISIONS, key: 'a', headers: {}, value: Buffer.from('kept') }]);
    await bus.close();
    await cluster.close();
    await makeReadable(dataDir);

    platform = new PlatformUnderTest(dataDir);
    await platform.start();
    const earlier = await readJson<Secrets>(join(EARLIER, 'secrets.json'));
    expect(await platform.secrets()).toMatchObject({ ...earlier });
    await expectClosed(dataDir);
    const anyone = await attemptAll(await platform.config(), {
      messages: [forgeBooking(platform.demo)],
      group: 'webhook-dispatcher',
    });
    expect(anyone.publish).toMatch(CLOSED);

    const kept: string[] = [];
    const administrator = createTestBus(await platform.administrator());
    await administrator.subscribe({
      group: 'reader',
      topics: [DECISIONS],
      handle: async (batch) => void kept.push(...batch.map(({ value }) => String(value))),
    });
    await expect.poll(() => kept, { timeout: 20_000 }).toContain('kept');
    await administrator.close();
    await recordDemoDecision(platform.demo, 'APPROVED');
    const webhooks = await new WebhookInboxClient(platform.demo.inboxUrl).waitFor(2, 30_000);
    expect(webhooks.at(-1)?.path).toBe('/application-approved');
  });
});

/** Gives a data directory the modes that earlier versions gave it. */
async function makeReadable(dataDir: string): Promise<void> {
  for (const name of ['.', 'kafka', 'kafka/broker-0']) await chmod(join(dataDir, name), 0o755);
  await chmod(join(dataDir, 'kafka/broker-0/server.properties'), 0o644);
}

/** Checks that other users can neither list the data directory nor read a file with a secret. */
async function expectClosed(dataDir: string): Promise<void> {
  const modeOf = async (name: string) => (await stat(join(dataDir, name))).mode & 0o777;
  // Where root starts PostgreSQL, the group of PostgreSQL's user may enter these two.
  for (const name of ['.', 'postgres']) expect((await modeOf(name)) & ~0o010).toBe(0o700);
  for (const name of ['kafka', 'postgres/cluster']) expect(await modeOf(name)).toBe(0o700);
  const files = ['secrets.json', 'demo.json', 'demo-records.json', 'inbox.jsonl'];
  const broker = ['server.properties', 'server.log'].map((name) => `kafka/broker-0/${name}`);
  for (const name of [...files, ...broker]) expect(await modeOf(name)).toBe(0o600);
}
