// Three brokers with passwords: the brokers and controllers authenticate to one another, too.
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { KAFKA_ADMIN } from '@creditlane/embedded-kafka/broker-access';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, expect, test } from 'vitest';
import type { KafkaConfig } from '../kafka-config.ts';
import type { Topic } from '../topics.ts';
import { ensureAccess } from './ensure-access.ts';
import { ensureTopics } from './ensure-topics.ts';
import { describeWithKafka, startTestCluster } from './test-kafka.ts';
import { announceRequest } from './test-kafka-attempts.ts';
import { createTestBus } from './test-kafka-bus.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const admin = randomBytes(24).toString('base64url');
const users = { decisions: 'published-by', 'webhook-dispatcher': 'consumed-by' };
const cluster = await startTestCluster(3, { access: { admin, users } });
afterAll(() => cluster?.close());

describeWithKafka(cluster, 'a cluster of three brokers with passwords', (kafka) => {
  const as = (username: string, password: string): KafkaConfig => ({
    brokers: kafka.brokers.split(','),
    prefix: 'own.',
    replication: 3,
    sasl: { mechanism: 'plain', login: () => ({ username, password }) },
  });

  const topics = { [TOPIC]: { partitions: 3, retentionMs: 60_000, replication: 3 } };

  test('stores each event on all brokers, and serves its users while one broker is missing', {
    timeout: 60_000,
  }, async () => {
    const config = as(KAFKA_ADMIN, admin);
    await ensureTopics({ config, log: silentLog, topics });
    await ensureAccess({
      config,
      log: silentLog,
      users: [
        { name: 'decisions', publishes: [TOPIC] },
        { name: 'webhook-dispatcher', consumes: [TOPIC] },
      ],
    });
    const consumed: string[] = [];
    const dispatcher = createTestBus(as('webhook-dispatcher', users['webhook-dispatcher']));
    await dispatcher.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      handle: async (batch) => void consumed.push(...batch.map(({ key }) => key)),
    });
    const decisions = createTestBus(as('decisions', users.decisions));
    const publish = (key: string) =>
      decisions.publish([{ topic: TOPIC, key, headers: {}, value: Buffer.from(key) }]).then(
        () => true,
        () => false,
      );
    await expect.poll(() => publish('a'), { timeout: 20_000 }).toBe(true);
    await kafka.stopBroker(0);
    await expect.poll(() => publish('b'), { timeout: 20_000 }).toBe(true);
    await kafka.startBroker(0);
    await expect
      .poll(() => consumed, { timeout: 20_000 })
      .toEqual(expect.arrayContaining(['a', 'b']));
    await Promise.all([decisions.close(), dispatcher.close()]);
  });

  test('serves its users while another address has as many connections as one may have', {
    timeout: 90_000,
  }, async () => {
    const [broker = ''] = kafka.brokers.split(',');
    const port = Number(broker.split(':')[1]);
    const MOST = 1_024;
    // Kafka's listen queue holds 50. Where more connect at once than it holds, the kernel drops the rest and tries
    // them again up to 13 s later, and their clients take them for open until then.
    const AT_ONCE = 40;
    const sockets: Socket[] = [];
    while (sockets.length < MOST + 20) {
      const count = Math.min(AT_ONCE, MOST + 20 - sockets.length);
      const connecting = Array.from({ length: count }, () =>
        announceRequest(port, 8 * 1_024, '127.0.0.2'),
      );
      sockets.push(...(await Promise.all(connecting)));
    }
    try {
      const open = () => sockets.filter(({ destroyed }) => !destroyed).length;
      await expect.poll(open, { timeout: 60_000 }).toBe(MOST);
      await ensureTopics({ config: as(KAFKA_ADMIN, admin), log: silentLog, topics });
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});
