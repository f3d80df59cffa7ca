// While brokers stop and start, every acknowledged message is handled, in the order of its key.
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, expect, test, vi } from 'vitest';
import { type EventBus, PartlyPublishedError } from '../bus.ts';
import type { KafkaConfig } from '../kafka-config.ts';
import type { EventMessage } from '../message.ts';
import type { Topic } from '../topics.ts';
import { ensureTopics } from './ensure-topics.ts';
import { describeWithKafka, startTestCluster } from './test-kafka.ts';
import { createTestBus } from './test-kafka-bus.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];
const WITHIN = { timeout: 45_000 };
const LONG = { timeout: 150_000 };

/** Publishes 1, 2, 3 … of every key; repeats each round until it is acknowledged, as the relay does. */
class Publisher {
  readonly #bus: EventBus;
  acknowledged = 0;
  refused = 0;

  constructor(bus: EventBus) {
    this.#bus = bus;
  }

  async rounds(until: Promise<unknown>): Promise<void> {
    let over = false;
    const end = until.finally(() => {
      over = true;
    });
    while (!over) {
      const text = `${this.acknowledged + 1}`;
      const round = KEYS.map((key) => ({
        topic: TOPIC,
        key,
        headers: {},
        value: Buffer.from(text),
      }));
      try {
        await this.#bus.publish(round);
        this.acknowledged += 1;
      } catch {
        this.refused += 1;
        await delay(50);
      }
    }
    await end;
  }
}

/** The messages handled of each key, without repeated ones, as the inbox drops them. */
class History {
  readonly #seen = new Map(KEYS.map((key) => [key, new Set<number>()]));

  async listen(bus: EventBus): Promise<void> {
    const handle: Parameters<EventBus['subscribe']>[0]['handle'] = async (batch) => {
      for (const { key, value } of batch) {
        this.#seen.get(key)?.add(Number(Buffer.from(value).toString()));
      }
    };
    await bus.subscribe({ group: 'webhook-dispatcher', topics: [TOPIC], handle });
  }

  /** Resolves once every key has reached the number; throws when a key's messages are out of order. */
  async complete(upTo: number): Promise<void> {
    const inOrder = Array.from({ length: upTo }, (_, index) => index + 1);
    await vi.waitUntil(() => [...this.#seen.values()].every(({ size }) => size >= upTo), WITHIN);
    for (const seen of this.#seen.values()) expect([...seen].slice(0, upTo)).toEqual(inOrder);
  }
}

/** A topic without replicas: while a broker is away, its partitions have no leader. */
class UnreplicatedTopic {
  static readonly #keys = Array.from({ length: 60 }, (_, index) => `key ${index}`);
  readonly #bus: ReturnType<typeof createTestBus>;
  readonly #handled: string[] = [];

  private constructor(bus: ReturnType<typeof createTestBus>) {
    this.#bus = bus;
  }

  static async open(config: KafkaConfig): Promise<UnreplicatedTopic> {
    const unreplicated = { ...config, prefix: `single.${config.prefix}`, replication: 1 };
    const topics = { [TOPIC]: { partitions: 6, retentionMs: 3_600_000, replication: 1 } };
    await ensureTopics({ config: unreplicated, log: silentLog, topics });
    const topic = new UnreplicatedTopic(createTestBus(unreplicated));
    const handle = async (batch: EventMessage[]) => {
      topic.#handled.push(...batch.map(({ value }) => Buffer.from(value).toString()));
    };
    await topic.#bus.subscribe({ group: 'webhook-dispatcher', topics: [TOPIC], handle });
    await topic.#publish('first');
    return topic;
  }

  /** Publishes one message of each key until all but those of partitions without a leader are published. */
  async publishesTheRest(): Promise<EventMessage[]> {
    const error = await vi.waitUntil(
      () => this.#publish('second').catch((it) => it instanceof PartlyPublishedError && it),
      WITHIN,
    );
    const { partitions } = error as PartlyPublishedError;
    expect(this.#bus.ready()).toContain(`not publishing to: ${TOPIC} ${partitions[0]?.partition}`);
    const isWaiting = (it: EventMessage) => partitions.some((partition) => partition.includes(it));
    const [waiting, others] = [true, false].map((is) =>
      this.#messages('third').filter((it) => isWaiting(it) === is),
    );
    expect(waiting?.length).toBeGreaterThan(0);
    expect(others?.length).toBeGreaterThan(20);
    // The others are published without an error, and the group handles them.
    await this.#untilPublished(others ?? []);
    const expected = (others ?? []).map(({ value }) => value.toString());
    await vi.waitUntil(() => expected.every((text) => this.#handled.includes(text)), WITHIN);
    return waiting ?? [];
  }

  /** Publishes what had to wait, as the relay does. */
  async publishesAll(waiting: EventMessage[]): Promise<void> {
    await this.#untilPublished(waiting);
    const expected = waiting.map(({ value }) => value.toString());
    await vi.waitUntil(() => expected.every((text) => this.#handled.includes(text)), WITHIN);
    await this.#bus.close();
  }

  async #untilPublished(messages: EventMessage[]): Promise<void> {
    const isPublished = () =>
      this.#bus.publish(messages).then(
        () => true,
        () => false,
      );
    await vi.waitUntil(isPublished, WITHIN);
  }

  async #publish(text: string): Promise<void> {
    await this.#bus.publish(this.#messages(text));
  }

  #messages(text: string): EventMessage[] {
    const value = (key: string) => Buffer.from(`${key} ${text}`);
    return UnreplicatedTopic.#keys.map((key) => {
      return { topic: TOPIC, key, headers: {}, value: value(key) };
    });
  }
}

const cluster = await startTestCluster(3);
afterAll(() => cluster?.close());

describeWithKafka(
  cluster,
  'a topic on three brokers',
  ({ startBroker, stopBroker, makeConfig }) => {
    async function startPublisher() {
      const bus = createTestBus(await makeConfig(6));
      const publisher = new Publisher(bus);
      const history = new History();
      await history.listen(bus);
      await publisher.rounds(vi.waitUntil(() => bus.ready() === true, WITHIN));
      return { bus, publisher, history };
    }

    test(
      'loses no message, and takes those of partitions with a leader, when brokers are killed and stopped',
      LONG,
      async () => {
        const { bus, publisher, history } = await startPublisher();
        const unreplicated = await UnreplicatedTopic.open(await makeConfig());
        await stopBroker(0);
        const waiting = unreplicated.publishesTheRest();
        const before = publisher.acknowledged;
        await publisher.rounds(
          vi.waitUntil(() => publisher.acknowledged > before + 20, { timeout: 30_000 }),
        );
        await publisher.rounds(waiting);
        await publisher.rounds(startBroker(0));
        await publisher.rounds(unreplicated.publishesAll(await waiting));
        // A broker that is stopped moves its partitions to brokers that are answering other requests.
        await publisher.rounds(stopBroker(1, 'SIGTERM'));
        await history.complete(publisher.acknowledged);
        await bus.close();
      },
    );

    test('loses no message when all brokers are killed and started', LONG, async () => {
      const { bus, publisher, history } = await startPublisher();
      await publisher.rounds(Promise.all([0, 1, 2].map((index) => stopBroker(index))));
      const before = publisher.refused;
      await publisher.rounds(vi.waitUntil(() => publisher.refused > before, WITHIN));
      const acknowledged = publisher.acknowledged;
      const back = Promise.all([0, 1, 2].map(startBroker));
      await publisher.rounds(
        back.then(() => vi.waitUntil(() => publisher.acknowledged > acknowledged, WITHIN)),
      );
      await history.complete(publisher.acknowledged);
      await bus.close();
    });
  },
);
