// What a consumer commits when its group rebalances, when consuming ends, and when it closes.
import { silentLog } from '@creditlane/runtime/test-log';
import type { EachBatchPayload, Kafka } from 'kafkajs';
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from 'vitest';
import { KafkaConsumer } from '../consumer.ts';

const TOPIC = 'creditlane.decisions.v1';
const BEYOND_PAUSES_MS = 5_000;
const WARNING = 'the last offsets were not committed; their messages are handled again';

/** One consumer of kafkajs: its listeners, and the offsets that it has resolved and committed. */
class FakeConsumer {
  readonly committed: string[][] = [];
  answer = () => Promise.resolve();
  disconnected = false;
  eachBatch: (payload: EachBatchPayload) => Promise<void> = async () => undefined;
  #resolved: string[] = [];
  readonly #listeners = new Map<string, (event: object) => void>();

  on(name: string, listener: (event: object) => void): void {
    this.#listeners.set(name, listener);
  }

  async connect(): Promise<void> {}
  async subscribe(): Promise<void> {}

  async run(options: { eachBatch: FakeConsumer['eachBatch'] }): Promise<void> {
    this.eachBatch = options.eachBatch;
    this.emit('group_join');
  }

  async disconnect(): Promise<void> {
    this.disconnected = true;
  }

  emit(name: 'rebalancing' | 'group_join' | 'crash', payload = {}): void {
    // As in kafkajs, a new generation knows no offsets of the last one.
    if (name === 'group_join') this.#resolved = [];
    this.#listeners.get(`consumer.${name}`)?.({ payload });
  }

  fetch(offset: string): Promise<void> {
    const message = { offset, key: Buffer.from('key'), value: Buffer.from('value') };
    const payload = {
      batch: { topic: TOPIC, messages: [message], lastOffset: () => offset },
      resolveOffset: (resolved: string) => void this.#resolved.push(resolved),
      heartbeat: async () => undefined,
      uncommittedOffsets: () => ({ topics: [] }),
      commitOffsetsIfNecessary: () => {
        if (this.#resolved.length > 0) this.committed.push([...this.#resolved]);
        return this.answer();
      },
    };
    return this.eachBatch(payload as unknown as EachBatchPayload);
  }
}

const consumers: FakeConsumer[] = [];
const handled: string[] = [];
let warn: MockInstance;
let consumer: KafkaConsumer;
let first: FakeConsumer;
let handling: Promise<void>;

beforeEach(async () => {
  vi.useFakeTimers();
  consumers.length = 0;
  handled.length = 0;
  warn = vi.spyOn(silentLog, 'warn');
  handling = Promise.resolve();
  const makeConsumer = () => {
    const made = new FakeConsumer();
    consumers.push(made);
    return made;
  };
  consumer = new KafkaConsumer({
    client: { consumer: makeConsumer } as unknown as Kafka,
    group: 'group',
    topics: [TOPIC],
    prefix: '',
    sessionTimeoutMs: 600_000,
    metadataMaxAgeMs: 600_000,
    log: silentLog,
    onCrash: () => undefined,
    handle: async (batch) => {
      await handling;
      handled.push(...batch.map(({ key }) => key));
    },
  });
  await vi.advanceTimersByTimeAsync(0);
  first = consumers[0] as FakeConsumer;
});
afterEach(async () => {
  first.answer = () => Promise.resolve();
  await consumer.close();
  vi.useRealTimers();
});

const refuse = () => Promise.reject(new Error('ILLEGAL_GENERATION'));

test('a batch ends without the answer to its commit', async () => {
  first.answer = () => new Promise(() => undefined);
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  expect(handled).toEqual(['key']);
  expect(first.committed).toEqual([['1']]);
});

test('a rebalance commits what waits in the pause before the member joins again', async () => {
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  await first.fetch('2');
  expect(first.committed).toEqual([['1']]);
  first.emit('rebalancing');
  await vi.advanceTimersByTimeAsync(0);
  expect(first.committed).toEqual([['1'], ['1', '2']]);
  first.emit('group_join');
  await vi.advanceTimersByTimeAsync(BEYOND_PAUSES_MS);
  expect(first.committed).toHaveLength(2);
});

test('a rebalance commits beside a commit that is not answered yet', async () => {
  const answer = Promise.withResolvers<void>();
  first.answer = () => answer.promise;
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  await first.fetch('2');
  first.emit('rebalancing');
  await vi.advanceTimersByTimeAsync(0);
  expect(first.committed).toEqual([['1'], ['1', '2']]);
  answer.resolve();
});

test('a commit of the last generation that fails is neither thrown in the next one nor repeated', async () => {
  first.answer = refuse;
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  first.emit('rebalancing');
  await vi.advanceTimersByTimeAsync(0);
  first.emit('group_join');
  first.answer = () => Promise.resolve();
  await first.fetch('2');
  await vi.advanceTimersByTimeAsync(BEYOND_PAUSES_MS);
  expect(first.committed).toEqual([['1'], ['1'], ['2']]);
});

test('a commit that is refused after the member has joined again is not thrown', async () => {
  const answer = Promise.withResolvers<void>();
  first.answer = () => answer.promise;
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  first.emit('group_join');
  answer.reject(new Error('ILLEGAL_GENERATION'));
  await vi.advanceTimersByTimeAsync(0);
  await first.fetch('2');
});

test('a batch that ends after a rebalance is not committed', async () => {
  const release = Promise.withResolvers<void>();
  handling = release.promise;
  const fetched = first.fetch('1');
  first.emit('rebalancing');
  first.emit('group_join');
  release.resolve();
  await fetched;
  await vi.advanceTimersByTimeAsync(BEYOND_PAUSES_MS);
  expect(handled).toHaveLength(1);
  expect(first.committed).toEqual([]);
});

test('a member whose consuming has crashed commits nothing more', async () => {
  first.answer = refuse;
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  const error = Object.assign(new Error('no broker'), { retriable: true });
  first.emit('crash', { error });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(first.committed).toEqual([['1']]);
  expect(consumers).toHaveLength(2);
});

test('closing commits what waits in the pause before the member leaves', async () => {
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  await first.fetch('2');
  await consumer.close();
  expect(first.committed).toEqual([['1'], ['1', '2']]);
  expect(warn).not.toHaveBeenCalled();
});

test('closing commits the batch under way', async () => {
  const release = Promise.withResolvers<void>();
  handling = release.promise;
  const fetched = first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  const closed = consumer.close();
  release.resolve();
  await Promise.all([fetched, closed]);
  expect(first.committed).toEqual([['1']]);
});

test('closing ends without the answer to a commit, with a warning', async () => {
  first.answer = () => new Promise(() => undefined);
  await first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  const closed = consumer.close();
  await vi.advanceTimersByTimeAsync(2_000);
  await closed;
  expect(first.disconnected).toBe(true);
  expect(warn).toHaveBeenCalledWith(expect.anything(), WARNING);
});

test('a commit that fails while closing is logged', async () => {
  const release = Promise.withResolvers<void>();
  handling = release.promise;
  first.answer = refuse;
  const fetched = first.fetch('1');
  await vi.advanceTimersByTimeAsync(0);
  const closed = consumer.close();
  await vi.advanceTimersByTimeAsync(0);
  expect(warn).not.toHaveBeenCalled();
  release.resolve();
  await Promise.all([fetched, closed]);
  expect(warn).toHaveBeenCalledWith(expect.anything(), WARNING);
});
