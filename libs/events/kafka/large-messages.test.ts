// A topic whose limit is lower than what the publisher sends in one request.
import { silentLog } from '@creditlane/runtime/test-log';
import kafkajs from 'kafkajs';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { PartlyPublishedError } from '../bus.ts';
import type { KafkaConfig } from '../kafka-config.ts';
import type { EventMessage } from '../message.ts';
import { TOPICS, type Topic } from '../topics.ts';
import { createClient } from './client.ts';
import { ensureTopics, TopicMismatchError } from './ensure-topics.ts';
import { describeWithKafka, openTestKafka } from './test-kafka.ts';
import { createTestBus, LONG_SESSION } from './test-kafka-bus.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const WITHIN = { timeout: 15_000 };
const LIMIT_BYTES = 20_000;

const message = (key: string, n: number, bytes = 1_000): EventMessage => {
  const value = Buffer.alloc(bytes, 1);
  return { topic: TOPIC, key, headers: { ce_id: `${key} ${n}` }, value };
};

/** Sets the limit of the topic, as an operator does, and waits until a broker knows it. */
async function limitTopic(config: KafkaConfig, bytes: number): Promise<void> {
  const admin = createClient(config, silentLog).admin();
  await admin.connect();
  const type = kafkajs.ConfigResourceTypes.TOPIC;
  const resource = { type, name: `${config.prefix}${TOPIC}` };
  const limit = { name: 'max.message.bytes', value: `${bytes}` };
  const resources = [{ ...resource, configEntries: [limit] }];
  await admin.alterConfigs({ validateOnly: false, resources });
  const describe = () => admin.describeConfigs({ resources: [resource], includeSynonyms: false });
  const present = async () =>
    (await describe()).resources[0]?.configEntries.find((it) => it.configName === limit.name);
  await expect.poll(async () => (await present())?.configValue, WITHIN).toBe(limit.value);
  await admin.disconnect();
}

const kafka = await openTestKafka();
afterAll(() => kafka?.close());

describeWithKafka(kafka, 'a topic with a lower limit', (kafka) => {
  async function openBus() {
    const config = await kafka.makeConfig(1);
    await limitTopic(config, LIMIT_BYTES);
    const bus = createTestBus(config, LONG_SESSION);
    onTestFinished(() => bus.close());
    const received: string[] = [];
    await bus.subscribe({
      group: 'webhook-dispatcher',
      topics: [TOPIC],
      handle: async (batch) =>
        void received.push(...batch.map(({ headers }) => `${headers.ce_id}`)),
    });
    /** Without repeated ones, as the inbox drops them. */
    const receivedOf = (key: string) =>
      [...new Set(received)]
        .filter((id) => id.startsWith(`${key} `))
        .map((id) => Number(id.slice(2)));
    return { config, bus, receivedOf };
  }

  test('gets a larger batch in parts, each key in its order', async () => {
    const { bus, receivedOf } = await openBus();
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    await bus.publish(numbers.flatMap((n) => [message('a', n), message('b', n)]));
    await expect.poll(() => receivedOf('a').length + receivedOf('b').length, WITHIN).toBe(400);
    expect([receivedOf('a'), receivedOf('b')]).toEqual([numbers, numbers]);
    expect(bus.ready()).toBe(true);
  });

  test('gets all but a message that is too large alone, and the later ones of its key', async () => {
    const { config, bus, receivedOf } = await openBus();
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const ofA = numbers.map((n) => message('a', n, n === 20 ? 2 * LIMIT_BYTES : 1_000));
    const all = numbers.flatMap((n) => [ofA[n] as EventMessage, message('b', n)]);
    const error = await bus.publish(all).then(
      () => expect.unreachable(),
      (it) => it,
    );
    expect(error).toBeInstanceOf(PartlyPublishedError);
    const [refused, ...others] = (error as PartlyPublishedError).partitions;
    expect(others).toEqual([]);
    expect(refused).toMatchObject({ topic: TOPIC, partition: 0, key: 'a', failed: ofA.slice(20) });
    expect(refused?.cause.message).toMatch(/an event of 40000 bytes is larger than creditlane/);
    await expect.poll(() => receivedOf('b'), WITHIN).toEqual(numbers);
    expect(receivedOf('a')).toEqual(numbers.slice(0, 20));
    await limitTopic(config, 1_000_000);
    await bus.publish(ofA.slice(20));
    await expect.poll(() => receivedOf('a'), WITHIN).toEqual(numbers);
  });

  test('is refused at the start when an event may be larger', async () => {
    const { config } = await openBus();
    const topics = { [TOPIC]: { ...TOPICS[TOPIC], partitions: 1, replication: 1 } };
    const ensured = ensureTopics({ config, log: silentLog, topics });
    await expect(ensured).rejects.toThrow(TopicMismatchError);
    await expect(ensured).rejects.toThrow(
      /takes messages of 20000 bytes and an event may have \d+/,
    );
  });
});
