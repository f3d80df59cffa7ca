// An event that is larger than its topic permits holds up the events of its own key only.
import { PartlyPublishedError, type UnwritablePartition } from '@creditlane/events/bus';
import type { EventMessage } from '@creditlane/events/message';
import { runPurge } from '@creditlane/postgres/retention';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { markPublishedDeadLetters } from '../dead-letters/dead-letters.ts';
import { discardDeadLetter, requestRedrives } from '../dead-letters/redrives.ts';
import { appendToOutbox } from '../outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent,
  type RecordingBus,
  recordingBus,
  sequencesOf as sequencesIn,
  startTestRelay,
} from '../test-relay.ts';
import type { Relay } from './relay.ts';

const TOPIC = 'creditlane.decisions.v1';
const WITHIN = { timeout: 30_000 };
const LIMIT_BYTES = 10_000;

let db: OpenTestDatabase;
let relay: Relay;
let bus: RecordingBus;
let log: ReturnType<typeof createLog>;
let limitBytes: number;
let isWritable: boolean;

beforeEach(async () => {
  db = await openMessagingTestDatabase('large');
  onTestFinished(() => db.close());
  [limitBytes, isWritable] = [LIMIT_BYTES, true];
  bus = recordingBus();
  bus.accept = async (batch) => {
    const refused = isWritable ? refusedKeys(batch) : [wholePartition(batch)];
    if (refused.length > 0) throw new PartlyPublishedError(refused);
  };
  log = createLog('test', { level: 'silent' });
  relay = startTestRelay(db, bus, { log, keepsDeadLetters: true });
});

/** As the Kafka bus says it: what is larger than the limit, with the later messages of its key. */
function refusedKeys(batch: readonly EventMessage[]): UnwritablePartition[] {
  const isLarge = ({ value }: EventMessage) => value.byteLength > limitBytes;
  return [...Map.groupBy(batch, ({ key }) => key)].flatMap(([key, messages]) => {
    const first = messages.findIndex(isLarge);
    if (first === -1) return [];
    const includes = (message: EventMessage) => message.key === key;
    const cause = new LoggableError('an event is larger than its topic permits');
    return [{ topic: TOPIC, partition: 7, key, includes, failed: messages.slice(first), cause }];
  });
}

const wholePartition = (failed: readonly EventMessage[]): UnwritablePartition => ({
  ...{ topic: TOPIC, partition: 7, includes: () => true, failed },
  cause: new Error('the partition has no leader'),
});

/** An event of so many times the limit. */
const large = (key: string, sequence: number, times = 2) => {
  const event = decisionEvent(key, sequence);
  const decision = { conditions: 'x'.repeat(times * LIMIT_BYTES) };
  return { ...event, payload: { ...event.payload, decision } };
};

async function append(...events: Parameters<typeof appendToOutbox>[1]): Promise<void> {
  await appendToOutbox(db.pool, events);
  relay.wake();
}

const sequencesOf = (key: string) => sequencesIn(bus.published, key);

async function countUnpublished(): Promise<number> {
  const { rows } = await db.pool.query('SELECT FROM outbox WHERE published_at IS NULL');
  return rows.length;
}

test('the later events of the key of one that is too large wait, those before it and of other keys are published once', async () => {
  const error = vi.spyOn(log, 'error');
  await append(decisionEvent('a', 1), large('a', 2), decisionEvent('a', 3), decisionEvent('b', 1));
  await expect.poll(countUnpublished, WITHIN).toBe(2);
  await append(decisionEvent('a', 4), decisionEvent('b', 2));
  await expect.poll(() => sequencesOf('b'), WITHIN).toEqual([1, 2]);
  expect(sequencesOf('a')).toEqual([1]);
  expect(error.mock.calls).toMatchObject([
    [
      { topic: TOPIC, key: 'a', eventId: expect.any(String), err: expect.any(Error) },
      expect.any(String),
    ],
  ]);
  limitBytes = Infinity;
  await relay.settled();
  expect([sequencesOf('a'), sequencesOf('b')]).toEqual([
    [1, 2, 3, 4],
    [1, 2],
  ]);
});

test('of a key with two such events, what is between them is published once when the limit is raised for the first', async () => {
  await append(large('a', 1), decisionEvent('a', 2), large('a', 3, 4), decisionEvent('a', 4));
  await expect.poll(countUnpublished, WITHIN).toBe(4);
  limitBytes = 3 * LIMIT_BYTES;
  await expect.poll(countUnpublished, WITHIN).toBe(2);
  limitBytes = Infinity;
  await relay.settled();
  expect(sequencesOf('a')).toEqual([1, 2, 3, 4]);
});

test('an event that is too large does not hold up the other keys of a partition that could not be written', async () => {
  isWritable = false;
  await append(large('a', 1), decisionEvent('b', 1));
  await append(decisionEvent('b', 2));
  await expect
    .poll(async () => (await db.metrics.text()).includes('partition="7"'), WITHIN)
    .toBe(true);
  isWritable = true;
  await expect.poll(() => sequencesOf('b'), WITHIN).toEqual([1, 2]);
  await expect.poll(countUnpublished, WITHIN).toBe(1);
  await expect.poll(() => db.metrics.text(), WITHIN).not.toContain('partition="7"');
  limitBytes = Infinity;
  await relay.settled();
  expect(sequencesOf('a')).toEqual([1]);
});

interface DeadLetter {
  id: number;
  reason: string;
  isHandled: boolean;
}

async function deadLetters(): Promise<DeadLetter[]> {
  const { rows } = await db.pool.query(
    `SELECT id, split_part(reason, E'\\n', 1) AS reason, handled_at IS NOT NULL AS "isHandled" FROM dead_letters
     WHERE consumer = 'outbox' AND key = 'a' AND topic = $1`,
    [TOPIC],
  );
  return rows;
}

test('an event that is too large is a dead letter with the reason until it is published, and no redrive is needed', async () => {
  await append(large('a', 1));
  const reason = expect.stringContaining('an event is larger than its topic permits');
  await expect.poll(deadLetters, WITHIN).toMatchObject([{ reason, isHandled: false }]);
  expect(await db.metrics.text()).toContain('dead_letters{consumer="outbox"} 1');
  expect(await requestRedrives(db.pool, { id: undefined, type: undefined }, 'Ana')).toEqual([]);
  await runPurge(db.pool, markPublishedDeadLetters);
  expect(await deadLetters()).toMatchObject([{ isHandled: false }]);
  limitBytes = Infinity;
  await relay.settled();
  await runPurge(db.pool, markPublishedDeadLetters);
  expect(await deadLetters()).toMatchObject([{ isHandled: true }]);
});

test('an event whose dead letter is discarded is not published, and the later ones of its key are', async () => {
  await append(decisionEvent('a', 1), large('a', 2), decisionEvent('a', 3));
  await expect.poll(async () => (await deadLetters()).length, WITHIN).toBe(1);
  const [{ id }] = (await deadLetters()) as [DeadLetter];
  const given = { requestedBy: 'Ana', reason: 'no topic takes it' };
  expect(await discardDeadLetter(db.pool, id, given)).toBe(true);
  await relay.settled();
  expect(sequencesOf('a')).toEqual([1, 3]);
});
