// Nobody without the password of a user of the platform's Kafka publishes, consumes or lists events, and no
// service does more than its manifest declares. An installation without passwords gains them at its start.
import { once } from 'node:events';
import { chmod, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { KAFKA_ADMIN } from '@creditlane/embedded-kafka/broker-access';
import { startKafka } from '@creditlane/embedded-kafka/embedded-kafka';
import { ensureTopics } from '@creditlane/events/kafka/ensure-topics';
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
import { describe, expect, test } from 'vitest';
import { recordDemoDecision } from './platform/api-client.ts';
import { LaunchedKafka } from './platform/launched-kafka.ts';
import { listProcessesUsing } from './platform/launched-platform.ts';
import { WebhookInboxClient } from './platform/webhook-inbox-client.ts';

const EARLIER = resolve(import.meta.dirname, 'earlier-installation');
const DECISIONS = 'creditlane.decisions.v1';
const APPLICATIONS = 'creditlane.applications.v1';
const INTEGRATIONS = 'creditlane.integrations.v1';
/** The names by which kafkajs reports a connection that the broker closes, and a password it refuses. */
const CLOSED = /Closed connection/;
/** kafkajs looks for the coordinator of a group that it may not use until it gives up. */
const GROUP_REFUSED = /GROUP_AUTHORIZATION_FAILED|GroupCoordinatorNotFound/;
const WRONG = /SASL PLAIN authentication failed/;

/** A platform of `npm run up`. */
export interface PlatformUnderTest {
  dataDir: string;
  demo: Demo;
  /** What the platform has printed. */
  output: string;
}

/** Tests a platform that was just started: its demo application has no decision. */
export function describeKafkaAccess(getPlatform: () => PlatformUnderTest): void {
  describe("the platform's Kafka", () => {
    const kafka = () => new LaunchedKafka(getPlatform().dataDir);
    const forged = () => ({
      messages: [forgeBooking(getPlatform().demo)],
      group: 'webhook-dispatcher',
    });

    test('refuses a client without credentials, and no webhook tells of its event', async () => {
      const refused = await attemptAll(await kafka().config(), forged());
      expect(refused).toEqual({
        publish: expect.stringMatching(CLOSED),
        consume: expect.stringMatching(CLOSED),
        list: expect.stringMatching(CLOSED),
      });
      await recordDemoDecision(getPlatform().demo, 'APPROVED');
      const inbox = new WebhookInboxClient(getPlatform().demo.inboxUrl);
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
      const refused = await attemptAll(await kafka().config(username, password), forged());
      const refusal = password === '' ? /SASL PLAIN|Closed connection|password/ : WRONG;
      for (const outcome of Object.values(refused)) expect(outcome).toMatch(refusal);
    });

    test('has a controller that refuses a request without credentials', async () => {
      const [, controller = 0] = await kafka().ports();
      expect(await askController(controller)).toBe('closed');
    });

    test('has a broker and a controller that read no request of more than 8 KiB without credentials', async () => {
      for (const port of await kafka().ports()) {
        const socket = await announceRequest(port, 8 * 1024 + 1);
        if (!socket.destroyed) await once(socket, 'close');
      }
    });

    test('lets a service use its own topics and group, and no others', async () => {
      const dispatcher = await attemptAll(await kafka().configOf('webhook-dispatcher'), {
        messages: forged().messages,
      });
      expect(dispatcher.publish).toMatch('TOPIC_AUTHORIZATION_FAILED');
      expect(dispatcher.list).toEqual([APPLICATIONS, DECISIONS, INTEGRATIONS]);

      const applications = await attemptAll(await kafka().configOf('applications'), forged());
      expect(applications.publish).toMatch('TOPIC_AUTHORIZATION_FAILED');
      expect(applications.consume).toMatch('TOPIC_AUTHORIZATION_FAILED');
      expect(applications.list).toEqual([APPLICATIONS]);

      const decisions = await attemptAll(await kafka().configOf('decisions'), {
        messages: [{ ...forgeBooking(getPlatform().demo), topic: APPLICATIONS }],
        group: 'webhook-dispatcher',
      });
      expect(decisions.publish).toMatch('TOPIC_AUTHORIZATION_FAILED');
      expect(decisions.consume).toMatch(GROUP_REFUSED);
      expect(decisions.list).toEqual([APPLICATIONS, DECISIONS]);
    });

    test('has passwords that are in no command line and no log, and files that others cannot read', async () => {
      await expectPasswordsHidden(getPlatform());
    });
  });
}

async function expectPasswordsHidden({ dataDir, output }: PlatformUnderTest): Promise<void> {
  const { kafkaPassword, postgresPassword, services } = await new LaunchedKafka(dataDir).secrets();
  const passwords = Object.values(services).map((service) => service.kafkaPassword);
  const logs = await Promise.all(
    ['kafka/broker-0/server.log', 'postgres/server.log'].map((name) =>
      readFile(join(dataDir, name), 'utf8'),
    ),
  );
  const visible = [...(await listProcessesUsing(dataDir)), ...logs, output].join('\n');
  for (const secret of [kafkaPassword, postgresPassword, ...passwords]) {
    expect(secret).toMatch(/^[\w-]{32}$/);
    expect(visible).not.toContain(secret);
  }
  await expectClosed(dataDir);
}

/** Makes a data directory of a version without passwords for Kafka, with an event in Kafka. */
export async function installWithoutKafkaPasswords(dataDir: string): Promise<void> {
  await writeFile(join(dataDir, 'creditlane.json'), '{"layoutVersion":1}\n');
  await copyFile(join(EARLIER, 'secrets.json'), join(dataDir, 'secrets.json'));
  const cluster = await startKafka({
    brokers: 1,
    dataDir: join(dataDir, 'kafka'),
    access: 'anyone',
  });
  const config: KafkaConfig = { brokers: cluster.brokers.split(','), prefix: '', replication: 1 };
  await ensureTopics({ config, log: silentLog });
  const bus = createTestBus(config);
  await bus.publish([{ topic: DECISIONS, key: 'a', headers: {}, value: Buffer.from('kept') }]);
  await bus.close();
  await cluster.close();
  // The modes of earlier versions.
  for (const name of ['.', 'kafka', 'kafka/broker-0']) await chmod(join(dataDir, name), 0o755);
  await chmod(join(dataDir, 'kafka/broker-0/server.properties'), 0o644);
}

/** Expects of a platform that was started on such a directory that it has kept its events and gained the passwords. */
export async function expectKafkaPasswordsGained({ dataDir, demo }: PlatformUnderTest) {
  const kafka = new LaunchedKafka(dataDir);
  const earlier = await readJson<Secrets>(join(EARLIER, 'secrets.json'));
  expect(await kafka.secrets()).toMatchObject({ ...earlier });
  await expectClosed(dataDir);
  const anyone = await attemptAll(await kafka.config(), { messages: [forgeBooking(demo)] });
  expect(anyone.publish).toMatch(CLOSED);

  const kept: string[] = [];
  const administrator = createTestBus(await kafka.administrator());
  await administrator.subscribe({
    group: 'reader',
    topics: [DECISIONS],
    handle: async (batch) => void kept.push(...batch.map(({ value }) => String(value))),
  });
  await expect.poll(() => kept, { timeout: 20_000 }).toContain('kept');
  await administrator.close();
  await recordDemoDecision(demo, 'APPROVED');
  const webhooks = await new WebhookInboxClient(demo.inboxUrl).waitFor(2, 30_000);
  expect(webhooks.at(-1)?.path).toBe('/application-approved');
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
