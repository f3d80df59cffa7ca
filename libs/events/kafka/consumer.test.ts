// Beyond the contract of every bus: no failure ends a Kafka consumer, skips messages or handles them twice.
import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { zstdCompressSync } from 'node:zlib';
import { silentLog } from '@creditlane/runtime/test-log';
import { CompressionCodecs, CompressionTypes, Kafka, logLevel } from 'kafkajs';
import { afterAll, expect, onTestFinished, type TestContext, test, vi } from 'vitest';
import type { KafkaConfig } from '../kafka-config.ts';
import type { EventMessage } from '../message.ts';
import type { Topic } from '../topics.ts';
import { KafkaConsumer } from './consumer.ts';
import { describeWithKafka, openTestKafka } from './test-kafka.ts';
import { createTestBus, LONG_SESSION } from './test-kafka-bus.ts';

const TOPIC: Topic = 'creditlane.decisions.v1';
const GROUP = 'webhook-dispatcher';
const WITHIN = { timeout: 18_000 };

function message(key: string, text = key): EventMessage {
  return { topic: TOPIC, key, headers: { ce_id: text }, value: Buffer.from(text) };
}

type BusOptions = Parameters<typeof createTestBus>[1];

function openBus({ onTestFinished }: TestContext, config: KafkaConfig, options?: BusOptions) {
  const bus = createTestBus(config, options);
  onTestFinished(() => bus.close());
  return bus;
}

/** Subscribes and records the texts of the handled messages; handling lasts until `released`. */
async function listen(bus: ReturnType<typeof createTestBus>, released = Promise.resolve()) {
  const texts: string[] = [];
  const subscription = await bus.subscribe({
    group: GROUP,
    topics: [TOPIC],
    handle: async (batch) => {
      await released;
      texts.push(...batch.map(({ value }) => Buffer.from(value).toString()));
    },
  });
  return { texts, subscription };
}

test('a consumer that joins its group again and again adds no listener each time', async () => {
  const added = vi.spyOn(AbortSignal.prototype, 'addEventListener');
  onTestFinished(() => added.mockRestore());
  const listeners: number[] = [];
  const consumer = new KafkaConsumer({
    ...{
      group: GROUP,
      topics: [TOPIC],
      prefix: '',
      sessionTimeoutMs: 6_000,
      metadataMaxAgeMs: 1_000,
    },
    client: new CrashingKafka(() => {
      const signals = new Set(added.mock.contexts as AbortSignal[]);
      listeners.push([...signals].flatMap((signal) => getEventListeners(signal, 'abort')).length);
    }) as unknown as Kafka,
    handle: () => Promise.resolve(),
    log: silentLog,
    onCrash: () => expect.unreachable(),
  });
  await vi.waitUntil(() => listeners.length >= 4, WITHIN);
  await consumer.close();
  expect(listeners[3]).toBe(listeners[1]);
});

/** A client of a cluster in which each consumer crashes as soon as it runs. */
class CrashingKafka {
  readonly #onRun: () => void;
  #onCrash: (event: object) => void = () => undefined;

  constructor(onRun: () => void) {
    this.#onRun = onRun;
  }

  consumer() {
    const error = Object.assign(new Error('no broker answers'), { retriable: true });
    return {
      on: (name: string, listener: (event: object) => void) => {
        if (name === 'consumer.crash') this.#onCrash = listener;
      },
      connect: () => Promise.resolve(),
      subscribe: () => Promise.resolve(),
      run: async () => {
        this.#onRun();
        setImmediate(() => this.#onCrash({ payload: { error } }));
      },
      disconnect: () => Promise.resolve(),
    };
  }
}

const kafka = await openTestKafka();
afterAll(() => kafka?.close());

describeWithKafka(kafka, 'a consumer of Kafka', (kafka) => {
  test.concurrent('that is killed leaves its batch to another member', async (context) => {
    const config = await kafka.makeConfig(1);
    const bus = openBus(context, config);
    await bus.publish([message('a'), message('b')]);
    const program = new URL('./test-kafka-member.ts', import.meta.url).pathname;
    const victim = spawn(process.execPath, [program, JSON.stringify(config), GROUP], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(victim.stdout, 'data');
    expect(String(said)).toBe('holding 2\n');
    const { texts } = await listen(bus);
    victim.kill('SIGKILL');
    await vi.waitUntil(() => texts.length >= 2, WITHIN);
    expect(texts).toEqual(['a', 'b']);
  });

  test.concurrent('that closes leaves no handled message to the next member', async (context) => {
    const config = await kafka.makeConfig();
    const first = openBus(context, config, LONG_SESSION);
    const before = await listen(first);
    const texts = Array.from({ length: 30 }, (_, index) => `before ${index}`);
    await first.publish(texts.map((text) => message(text)));
    await vi.waitUntil(() => before.texts.length === 30, WITHIN);
    await first.close();

    const second = openBus(context, config, LONG_SESSION);
    await second.publish([message('after')]);
    const after = await listen(second);
    await vi.waitUntil(() => after.texts.length > 0, WITHIN);
    expect(after.texts).toEqual(['after']);
  });

  test.concurrent('stays a member while handling takes longer than the session timeout', async (context) => {
    const config = await kafka.makeConfig(1);
    const bus = openBus(context, config);
    const other = openBus(context, config);
    const release = Promise.withResolvers<void>();
    const { texts: handled } = await listen(bus, release.promise);
    await bus.publish([message('a')]);
    await vi.waitUntil(() => bus.ready() === true, WITHIN);
    const beyondSessionMs = 7_500;
    await delay(beyondSessionMs);
    release.resolve();
    await vi.waitUntil(() => handled.length > 0, WITHIN);
    const late = await listen(other);
    await bus.publish([message('b')]);
    await vi.waitUntil(() => handled.length + late.texts.length >= 2, WITHIN);
    expect([...handled, ...late.texts]).toEqual(['a', 'b']);
  });

  test.concurrent('finishes and commits its batch when another member joins', async (context) => {
    const config = await kafka.makeConfig(2);
    const bus = openBus(context, config, LONG_SESSION);
    const release = Promise.withResolvers<void>();
    const { texts: handled } = await listen(bus, release.promise);
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await bus.publish(keys.map((key) => message(key)));
    await vi.waitUntil(() => bus.ready() === true, WITHIN);
    const joining = openBus(context, config, LONG_SESSION);
    const { texts } = await listen(joining);
    release.resolve();
    await vi.waitUntil(() => joining.ready() === true, WITHIN);
    await vi.waitUntil(() => new Set([...handled, ...texts]).size === 20, WITHIN);
    expect([...handled, ...texts].toSorted()).toEqual(keys.toSorted());
  });

  test.concurrent('that cannot handle its messages leaves some to a member that joins', async (context) => {
    const config = await kafka.makeConfig(2);
    const bus = openBus(context, config);
    const handled: string[] = [];
    let isPeerAway = true;
    await bus.subscribe({
      group: GROUP,
      topics: [TOPIC],
      handle: async (batch) => {
        if (isPeerAway) throw new Error('a peer is away');
        handled.push(...batch.map(({ key }) => key));
      },
    });
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
    await bus.publish(keys.map((key) => message(key)));
    await vi.waitUntil(() => bus.ready() === true, WITHIN);
    const { texts } = await listen(openBus(context, config));
    await vi.waitUntil(() => texts.length > 0, WITHIN);
    isPeerAway = false;
    await vi.waitUntil(() => new Set([...handled, ...texts]).size === 20, WITHIN);
  });

  test.concurrent('delivers messages without key, value or text', async (context) => {
    const config = await kafka.makeConfig(1);
    const bus = openBus(context, config);
    const received: EventMessage[] = [];
    await bus.subscribe({
      group: GROUP,
      topics: [TOPIC],
      handle: async (batch) => void received.push(...batch),
    });
    await publishStrangeBytes(config);
    await bus.publish([message('a')]);
    await vi.waitUntil(() => received.length === 6, WITHIN);
    expect(received.map(({ key, headers }) => [key, headers])).toEqual([
      ['', {}],
      ['', {}],
      ['\uFFFD', { ce_id: '\uFFFD', twice: 'one' }],
      ['', { big: '' }],
      ['compressed', {}],
      ['a', { ce_id: 'a' }],
    ]);
  });

  test.concurrent('reports an error that no retry can mend and ends', async (context) => {
    const config = await kafka.makeConfig(1);
    const crash = Promise.withResolvers<Error>();
    // Shorter than brokers accept.
    const bus = openBus(context, config, { sessionTimeoutMs: 100, onCrash: crash.resolve });
    await listen(bus);
    expect((await crash.promise).message).toMatch(/consuming has ended: .*session timeout/i);
    expect(bus.ready()).toBe('not consuming: webhook-dispatcher');
  });
});

/** Messages of another producer: without key or value, with bytes that are no text, compressed. */
async function publishStrangeBytes({ brokers, prefix }: KafkaConfig): Promise<void> {
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
    decompress: () => Promise.reject(new Error('our consumers know no such compression')),
  });
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const topic = prefix + TOPIC;
  const noText = Buffer.from([0xff]);
  await producer.send({
    topic,
    messages: [
      { key: null, value: null },
      { key: '', value: Buffer.alloc(0) },
      { key: noText, value: noText, headers: { ce_id: noText, twice: ['one', 'two'] } },
      { key: '', value: Buffer.alloc(500_000, 0xff), headers: { big: '' } },
    ],
  });
  const compression = CompressionTypes.ZSTD;
  await producer.send({ topic, compression, messages: [{ key: 'compressed', value: 'x' }] });
  await producer.disconnect();
}
