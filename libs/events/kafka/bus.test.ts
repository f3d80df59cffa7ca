import { createLog } from '@creditlane/runtime/telemetry/log';
import { silentLog } from '@creditlane/runtime/test-log';
import kafkajs from 'kafkajs';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { describeEventBusContract } from '../event-bus-contract-tests.ts';
import type { EventMessage } from '../message.ts';
import type { Topic } from '../topics.ts';
import { createClient } from './client.ts';
import { ensureTopics, TopicMismatchError } from './ensure-topics.ts';
import { raisePartitions } from './raise-partitions.ts';
import { describeWithKafka, openTestKafka } from './test-kafka.ts';
import { createTestBus, LONG_SESSION } from './test-kafka-bus.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const WITHIN = { timeout: 15_000 };

function message(key: string, bytes: number): EventMessage {
  return { topic: TOPIC, key, headers: { ce_id: key }, value: Buffer.alloc(bytes, 1) };
}

const kafka = await openTestKafka();
afterAll(() => kafka?.close());

describeWithKafka(kafka, 'with Kafka', (kafka) => {
  describeEventBusContract('over Kafka', async () =>
    createTestBus(await kafka.makeConfig(), LONG_SESSION),
  );

  test('a publish larger than one request is delivered completely and in order', async () => {
    const bus = createTestBus(await kafka.makeConfig(1), LONG_SESSION);
    const keys = Array.from({ length: 300 }, (_, index) => `${index}`);
    await bus.publish(keys.map((key) => message(key, 10_000)));
    const received: string[] = [];
    await bus.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      handle: async (batch) => void received.push(...batch.map(({ key }) => key)),
    });
    await vi.waitUntil(() => received.length >= keys.length, WITHIN);
    expect(received).toEqual(keys);
    await bus.close();
  });

  test('a message that is too large is refused, and the next message is published', async () => {
    const bus = createTestBus(await kafka.makeConfig(1));
    await expect(bus.publish([message('large', 2_000_000)])).rejects.toThrow(
      /an event of 2000000 bytes is larger than creditlane\.decisions\.v1 permits: .*larger than the max message size/,
    );
    await bus.publish([message('small', 10)]);
    await bus.close();
  });

  test('a subscription without topics waits for them and is not ready', async () => {
    const config = { ...(await kafka.makeConfig()), prefix: 'later.' };
    const bus = createTestBus(config);
    const handled = Promise.withResolvers<EventMessage[]>();
    await bus.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      handle: async (batch) => handled.resolve(batch),
    });
    expect(bus.ready()).toBe('not consuming: webhook-dispatcher');
    await expect(bus.publish([message('a', 1)])).rejects.toThrow('does not host this topic');
    expect(bus.ready()).toBe('not consuming: webhook-dispatcher; not publishing');
    const topics = { [TOPIC]: { partitions: 1, retentionMs: 60_000, replication: 1 } };
    await ensureTopics({ config, log: silentLog, topics });
    await bus.publish([message('b', 1)]);
    expect((await handled.promise).map(({ key }) => key)).toEqual(['b']);
    expect(bus.ready()).toBe(true);
    await bus.close();
  });

  test('ensuring topics again changes their declared settings only', async () => {
    const config = await kafka.makeConfig(2);
    const log = createLog('test', { level: 'silent' });
    const info = vi.spyOn(log, 'info');
    const ensure = (partitions: number, retentionMs: number) => {
      const topics = { [TOPIC]: { partitions, retentionMs, replication: 1 } };
      return ensureTopics({ config, log, topics });
    };
    const topic = `${config.prefix}${TOPIC}`;
    const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic };
    const admin = createClient(config, silentLog).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    // As an operator does.
    const configEntries = [{ name: 'max.message.bytes', value: '2000000' }];
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
    // A broker learns of settings after the controller has answered.
    const settings = async () => {
      const asked = { resources: [resource], includeSynonyms: false };
      const { resources } = await admin.describeConfigs(asked);
      return resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]);
    };
    const byOperator = ['max.message.bytes', '2000000'];
    await expect.poll(settings).toContainEqual(byOperator);
    await ensure(2, 120_000);
    await expect.poll(settings).toContainEqual(['retention.ms', '120000']);
    expect(await settings()).toContainEqual(byOperator);
    expect(info.mock.calls).toEqual([[{ topic }, 'settings of a topic changed']]);
    await ensure(2, 120_000);
    expect(info).toHaveBeenCalledOnce();
    const refused = ensure(4, 120_000);
    await expect(refused).rejects.toThrow(TopicMismatchError);
    await expect(refused).rejects.toThrow('has 2 partitions and is declared with 4');
  });

  test('partitions are raised once everything is handled, and each key keeps its order', async () => {
    const config = await kafka.makeConfig(2);
    const bus = createTestBus(config, { ...LONG_SESSION, metadataMaxAgeMs: 300 });
    const keys = Array.from({ length: 40 }, (_, index) => `${index}`);
    const publish = (text: string) =>
      bus.publish(keys.map((key) => ({ ...message(key, 0), value: Buffer.from(text) })));
    const handled = new Map(keys.map((key) => [key, [] as string[]]));
    await bus.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      handle: async (batch) => {
        for (const { key, value } of batch) handled.get(key)?.push(Buffer.from(value).toString());
      },
    });
    const raise = (within: number) => {
      const waits = { handledWithinMs: within, metadataMaxAgeMs: 300 };
      return raisePartitions({ config, log: silentLog, topic: TOPIC, partitions: 6, ...waits });
    };
    await publish('first');
    await vi.waitUntil(() => [...handled.values()].every(({ length }) => length === 1), WITHIN);
    await raise(15_000);
    await publish('second');
    await vi.waitUntil(() => [...handled.values()].every(({ length }) => length === 2), WITHIN);
    expect(new Set([...handled.values()].map((texts) => texts.join()))).toEqual(
      new Set(['first,second']),
    );
    await expect(raise(15_000)).rejects.toThrow('has 6 partitions already');
    await bus.close();
  });

  test('raising partitions fails when a message is published to an added one meanwhile', async () => {
    const config = await kafka.makeConfig(1);
    const log = createLog('test', { level: 'silent' });
    const added = Promise.withResolvers<void>();
    vi.spyOn(log, 'info').mockImplementation(() => added.resolve());
    const producer = createClient(config, silentLog).producer();
    await producer.connect();
    onTestFinished(() => producer.disconnect());
    // Twice this age after the partition was added, the raising looks for messages in it; the publish must come before, also late.
    const waits = { handledWithinMs: 15_000, metadataMaxAgeMs: 2_500 };
    const raising = raisePartitions({ config, log, topic: TOPIC, partitions: 2, ...waits });
    const publish = async () => {
      await added.promise;
      const messages = [{ key: 'a', value: 'late', partition: 1 }];
      await vi.waitFor(() => producer.send({ topic: config.prefix + TOPIC, messages }), WITHIN);
    };
    const refusal = expect(raising).rejects.toThrow('meanwhile: publishing must be held');
    await Promise.all([publish(), refusal]);
  });

  test('partitions are not raised while a group has messages to handle', async () => {
    const config = await kafka.makeConfig(2);
    const bus = createTestBus(config);
    let received = 0;
    const release = Promise.withResolvers<void>();
    const subscription = await bus.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      handle: async (batch) => {
        received += batch.length;
        if (received > 1) await release.promise;
      },
    });
    await bus.publish([message('a', 1)]);
    await vi.waitUntil(() => received === 1, WITHIN);
    const handledMs = performance.now();
    await vi.waitUntil(() => subscription.handledUntilMs() >= handledMs, WITHIN);
    await bus.publish([message('a', 1)]);
    const raising = raisePartitions({
      config,
      log: silentLog,
      topic: TOPIC,
      partitions: 4,
      handledWithinMs: 500,
    });
    await expect(raising).rejects.toThrow('is not handled yet by: ');
    release.resolve();
    await bus.close();
  });
});

test('a process that publishes no more reports a failed publish for half a minute', async () => {
  // Port 1 has no broker.
  const bus = createTestBus({ brokers: ['127.0.0.1:1'], prefix: '', replication: 1 });
  onTestFinished(() => bus.close());
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  await expect(bus.publish([message('a', 1)])).rejects.toThrow('events could not be published');
  await vi.advanceTimersByTimeAsync(29_000);
  expect(bus.ready()).toBe('not publishing');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(bus.ready()).toBe(true);
});
