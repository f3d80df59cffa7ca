import { randomUUID } from 'node:crypto';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { runReadWriteTransaction } from '@creditlane/postgres/transaction';
import { newId } from '@creditlane/runtime/ids';
import { pickOne, seededRandom } from '@creditlane/runtime/test-seeded-random';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstSequencesOf } from '../../intake/intake.ts';
import { type NewEvent, NOTHING_STORED, planDeliveries } from '../../intake/plan.ts';
import { openDispatcherDatabase, resultOf } from '../../test-deliveries.ts';
import { enableDestinationsQuery } from '../destinations.ts';
import { promoteNextQuery } from '../pending/lanes.ts';
import { recordResultsQuery } from '../results.ts';
import { insertInOneRoundTripQuery } from './one-round-trip-intake.ts';
import {
  findStoredStateQuery,
  insertPlanQuery,
  lockOrderingKeysQuery,
} from './two-round-trip-intake.ts';

const LEASE_MS = 60_000;
let db: TestDatabase;
beforeAll(async () => {
  db = await openDispatcherDatabase();
});
afterAll(() => db.drop());

/** Ids of one history, in the order of their first use: two histories with other ids can be compared. */
class Names {
  readonly #ids = new Map<string, string>();

  id(name: string): string {
    const id = this.#ids.get(name) ?? randomUUID();
    this.#ids.set(name, id);
    return id;
  }
}

interface EventOutline {
  name: string;
  application: string;
  creditor: string;
  sequence: number;
  destinations: readonly string[];
  /** Of all destinations. */
  revision?: number;
  isUnsendable?: boolean;
}

function newEvent(names: Names, outline: EventOutline): NewEvent {
  const { name, application, creditor, sequence, destinations, isUnsendable } = outline;
  const { revision = 1 } = outline;
  const [orderingKey, numberingKey] = [names.id(application), names.id(creditor)];
  return {
    eventId: names.id(name),
    recordedAt: new Date(0),
    traceparent: undefined,
    seriesPosition: { orderingKey, numberingKey, sequence },
    webhook: {
      event: 'applicationBooked',
      orderingKey,
      numberingKey,
      content: isUnsendable
        ? { kind: 'unsendable', body: '{}', reason: 'no such schema' }
        : { kind: 'body', body: '{}' },
      recipients: destinations.map((it) => ({ destinationId: names.id(it), revision })),
    },
  };
}

const lanesOf = (events: readonly NewEvent[]) =>
  events.map(({ seriesPosition, webhook }) => ({
    seriesPosition,
    orderingKey: webhook?.orderingKey,
    recipients: webhook?.recipients ?? [],
  }));
const dueOf = ({ deliveries }: ReturnType<typeof planDeliveries>) =>
  new Set(deliveries.filter(({ state }) => state === 'due').map(({ id }) => id));

/** Applies a batch in two round trips. */
async function planAndWrite(events: readonly NewEvent[]): Promise<void> {
  const lanes = lanesOf(events);
  const reads = [lockOrderingKeysQuery(lanes), findStoredStateQuery(lanes)] as const;
  await runReadWriteTransaction(db.sql, reads, ([, stored]) => {
    const plan = planDeliveries(events, stored, newId);
    const enable = enableDestinationsQuery(plan.enabledRevisions);
    return { writes: [enable, insertPlanQuery(plan, dueOf(plan), LEASE_MS)], result: undefined };
  });
}

/** Applies a batch in one round trip; resolves to the states of its deliveries, or to undefined when it does not apply. */
async function writeInOneRoundTrip(events: readonly NewEvent[]): Promise<string[] | undefined> {
  const plan = planDeliveries(events, NOTHING_STORED, newId);
  if (plan.staleEventIds.length > 0) return undefined;
  const received = {
    ids: events.map(({ eventId }) => eventId),
    expectedEffects: events.map(({ webhook }) => webhook?.recipients.length ?? 0),
    firstSequences: firstSequencesOf(events),
  };
  const query = insertInOneRoundTripQuery(received, plan, dueOf(plan), LEASE_MS);
  const [, written] = await runPipeline(db.sql, [lockOrderingKeysQuery(lanesOf(events)), query]);
  return written?.map(({ state }) => state);
}

/** What is stored of two applications, without ids. */
async function stored(names: Names) {
  const applications = ['a1', 'a2'].map((it) => names.id(it));
  const of = (name: string) => `CASE ${name}
    ${['a1', 'a2', 'c1', 'c2', 'd1', 'd2'].map((it) => `WHEN '${names.id(it)}' THEN '${it}'`).join(' ')} END`;
  const rowsOf = async (sql: string) => (await db.sql.query(sql, [applications])).rows;
  return {
    deliveries:
      await rowsOf(`SELECT ${of('application_id')} AS a, ${of('destination_id')} AS d, sequence::int, state,
        reason, leased, fence, next_attempt_at IS NULL AS unplanned, storage
      FROM deliveries WHERE application_id = ANY ($1) ORDER BY position`),
    sequences: await rowsOf(`SELECT ${of('application_id')} AS a, ${of('creditor_id')} AS c,
        ${of('destination_id')} AS d, last_sequence FROM sequences WHERE application_id = ANY ($1) ORDER BY 1, 2, 3`),
    seen: await rowsOf(`SELECT ${of('application_id')} AS a, ${of('creditor_id')} AS c, seen_sequence
      FROM submissions WHERE application_id = ANY ($1) ORDER BY 1, 2`),
  };
}

/** Disables a destination at its first revision. */
const disable = (names: Names, destination: string) =>
  db.sql.query(
    'INSERT INTO destination_states (destination_id, revision, disabled_at) VALUES ($1, 1, now())',
    [names.id(destination)],
  );

/** Ends the first delivery of a lane, without promoting the next one. */
const endFirst = (names: Names, application: string, destination: string) =>
  db.sql.query(
    `UPDATE deliveries SET storage = 'ended', state = 'delivered', leased = false, settled_at = now()
     WHERE id = (SELECT id FROM deliveries WHERE application_id = $1 AND destination_id = $2
       AND storage = 'queue' ORDER BY position LIMIT 1)`,
    [names.id(application), names.id(destination)],
  );

test('random batches leave the same rows in one round trip as in two', async () => {
  const random = seededRandom(7);
  const pick = (count: number) => Math.floor(random() * count);
  let applied = 0;
  for (let history = 0; history < 16; history += 1) {
    const [once, twice] = [new Names(), new Names()];
    const last = new Map<string, number>();
    const disabledAt = pick(8);
    let revision = 1;
    for (let batch = 0; batch < 4; batch += 1) {
      if (batch === disabledAt) for (const names of [once, twice]) await disable(names, 'd2');
      // The integration has set its destinations anew.
      if (pick(6) === 0) revision = 2;
      const events = Array.from({ length: 1 + pick(5) }, (_, n): EventOutline => {
        const [application, creditor] = [`a${1 + pick(2)}`, `c${1 + pick(2)}`];
        const series = `${application} ${creditor}`;
        // Some come after a later event of their series.
        const sequence = Math.max(1, (last.get(series) ?? 0) + 1 - (pick(12) === 0 ? 1 : 0));
        last.set(series, Math.max(sequence, last.get(series) ?? 0));
        const destinations = pickOne(random, [['d1'], ['d1', 'd2'], ['d2'], []]);
        const isUnsendable = pick(8) === 0;
        return {
          name: `e${batch}.${n}`,
          application,
          creditor,
          sequence,
          destinations,
          revision,
          isUnsendable,
        };
      });
      const forOnce = events.map((it) => newEvent(once, it));
      if ((await writeInOneRoundTrip(forOnce)) === undefined) await planAndWrite(forOnce);
      else applied += 1;
      await planAndWrite(events.map((it) => newEvent(twice, it)));
      expect(await stored(once)).toEqual(await stored(twice));
      const [application, destination] = [`a${1 + pick(2)}`, `d${1 + pick(2)}`];
      for (const names of [once, twice]) await endFirst(names, application, destination);
    }
  }
  expect(applied).toBeGreaterThan(32);
});

const FIRST: EventOutline = {
  name: 'e1',
  application: 'a1',
  creditor: 'c1',
  sequence: 1,
  destinations: ['d1'],
};

test.each([
  ['an event that the inbox has', async () => undefined, [FIRST]],
  ['an event after a later one of its series', async () => undefined, [{ ...FIRST, name: 'e2' }]],
  [
    'an event to a disabled destination that was set anew',
    (names: Names) => disable(names, 'd1'),
    [{ ...FIRST, name: 'e2', sequence: 2, revision: 2 }],
  ],
])('a batch with %s writes nothing in one round trip', async (_, prepare, batch) => {
  const names = new Names();
  const other: EventOutline = { ...FIRST, name: 'other', application: 'a2' };
  expect(await writeInOneRoundTrip([newEvent(names, FIRST)])).toEqual(['due']);
  const before = await stored(names);
  await prepare(names);
  const events = [...batch, other].map((it) => newEvent(names, it));
  expect(await writeInOneRoundTrip(events)).toBeUndefined();
  expect(await stored(names)).toEqual(before);
  const { rowCount } = await db.sql.query('SELECT FROM inbox WHERE event_id = $1', [
    names.id('other'),
  ]);
  expect(rowCount).toBe(0);
});

test('a delivery to a disabled destination is numbered and dead at once, others of the batch are due', async () => {
  const names = new Names();
  await disable(names, 'd1');
  const event = newEvent(names, { ...FIRST, destinations: ['d1', 'd2'] });
  expect(await writeInOneRoundTrip([event])).toEqual(['dead', 'due']);
  expect((await stored(names)).deliveries).toMatchObject([
    {
      d: 'd1',
      sequence: 1,
      state: 'dead',
      reason: 'destination_disabled',
      leased: false,
      storage: 'ended',
    },
    { d: 'd2', sequence: 1, state: 'due', reason: null, leased: true, storage: 'queue' },
  ]);
});

/** Begins the works, one after the other, while a query holds what they wait for; resolves when all have ended. */
async function runBehind(
  [text, values]: readonly [string, readonly unknown[]],
  works: readonly (() => Promise<unknown>)[],
): Promise<void> {
  const holder = await db.sql.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(text, [...values]);
    const ends: Promise<unknown>[] = [];
    for (const [place, work] of works.entries()) {
      ends.push(work());
      await untilWaiting(db.sql, place + 1);
    }
    await holder.query('COMMIT');
    await Promise.all(ends);
  } finally {
    holder.release();
  }
}

test('a delivery whose intake has waited for a lock is leased for the whole time from then on', async () => {
  const names = new Names();
  const holder = await db.sql.connect();
  try {
    await holder.query('BEGIN');
    const lock = `SELECT pg_advisory_xact_lock(hashtextextended('intake ' || $1, 0))`;
    await holder.query(lock, [names.id('a1')]);
    const writing = planAndWrite([eventOf(names, 1)]);
    await untilWaiting(db.sql, 1);
    const { rows } = await holder.query('SELECT clock_timestamp()::text AS at');
    await holder.query('COMMIT');
    await writing;
    const whole = `SELECT next_attempt_at >= $1::timestamptz + $2 * interval '1 ms' AS is_whole
      FROM deliveries WHERE event_id = $3`;
    const leases = await db.sql.query(whole, [rows[0].at, LEASE_MS, names.id('e1')]);
    expect(leases.rows).toEqual([{ is_whole: true }]);
  } finally {
    holder.release();
  }
});

/** Records the success of the first delivery of the lane, and promotes the next one. */
async function deliverFirst(names: Names): Promise<void> {
  const [orderingKey, destinationId] = [names.id('a1'), names.id('d1')];
  const { rows } = await db.sql.query(
    `SELECT id, fence, attempts, replays, sequence FROM deliveries WHERE event_id = $1`,
    [names.id('e1')],
  );
  const content = { event: 'applicationBooked', body: '{}', reference: null };
  const made = { recordedAt: new Date(0), ageMs: 0 };
  const delivery = { ...rows[0], ...content, ...made, orderingKey, destinationId };
  const lane = { orderingKey, destinationId };
  await runPipeline(db.sql, [
    recordResultsQuery([resultOf(delivery, 200)], LEASE_MS),
    promoteNextQuery([lane], LEASE_MS),
  ]);
}

const statesOfLane = async (names: Names) =>
  (await stored(names)).deliveries.map(({ state }) => state).filter((it) => it !== 'delivered');

/** An event of the lane, by a creditor of its own. */
const eventOf = (names: Names, n: number) =>
  newEvent(names, { ...FIRST, name: `e${n}`, creditor: `c${n}` });

test('of two intakes of one lane at the same time, one leaves its delivery due, and the other behind it', async () => {
  for (let round = 0; round < 24; round += 1) {
    const names = new Names();
    const lock = `SELECT pg_advisory_xact_lock(hashtextextended('intake ' || $1, 0))`;
    const order = round % 2 === 0 ? [1, 2] : [2, 1];
    await runBehind(
      [lock, [names.id('a1')]],
      order.map((n) => () => writeInOneRoundTrip([eventOf(names, n)])),
    );
    expect(await statesOfLane(names)).toEqual(['due', 'waiting']);
  }
});

test.each([
  ['the only delivery', 1, ['due']],
  ['the first delivery', 2, ['due', 'waiting']],
])(
  'an intake beside the record of %s of its lane leaves one delivery due',
  async (_, count, states) => {
    for (let round = 0; round < 24; round += 1) {
      const names = new Names();
      for (let n = 1; n <= count; n += 1) await writeInOneRoundTrip([eventOf(names, n)]);
      const works = [() => deliverFirst(names), () => writeInOneRoundTrip([eventOf(names, 3)])];
      await runBehind(
        ['SELECT FROM deliveries WHERE event_id = $1 FOR UPDATE', [names.id('e1')]],
        round % 2 === 0 ? works : works.toReversed(),
      );
      expect(await statesOfLane(names)).toEqual(states);
    }
  },
);

test('a delivery behind one whose result is being recorded waits for the record, and is due', async () => {
  const names = new Names();
  await writeInOneRoundTrip([newEvent(names, FIRST)]);
  const recording = await db.sql.connect();
  try {
    await recording.query('BEGIN');
    await recording.query('DELETE FROM deliveries WHERE event_id = $1', [names.id('e1')]);
    const writing = writeInOneRoundTrip([newEvent(names, { ...FIRST, name: 'e2', sequence: 2 })]);
    await untilWaiting(db.sql, 1);
    await recording.query('COMMIT');
    expect(await writing).toEqual(['due']);
  } finally {
    recording.release();
  }
});

test('an event is inserted into the inbox before anything else is locked, as in two round trips', async () => {
  const names = new Names();
  await writeInOneRoundTrip([newEvent(names, FIRST)]);
  const next = newEvent(names, { ...FIRST, name: 'e2', sequence: 2 });
  const other = await db.sql.connect();
  try {
    await other.query('BEGIN');
    await other.query(`INSERT INTO inbox (consumer, event_id) VALUES ('webhook-dispatcher', $1)`, [
      next.eventId,
    ]);
    const writing = writeInOneRoundTrip([next]).catch((error: unknown) => error);
    await untilWaiting(db.sql, 1);
    for (const table of ['submissions', 'sequences', 'deliveries']) {
      const own = `SELECT FROM ${table} WHERE application_id = $1 FOR UPDATE NOWAIT`;
      expect((await other.query(own, [names.id('a1')])).rowCount).toBe(1);
    }
    await other.query('ROLLBACK');
    expect(await writing).toEqual(['waiting']);
  } finally {
    other.release();
  }
});
