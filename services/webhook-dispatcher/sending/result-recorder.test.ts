import { randomUUID } from 'node:crypto';
import { runQuery } from '@creditlane/postgres/statement';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { silentLog } from '@creditlane/runtime/test-log';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Lane, LeasedDelivery } from '../queue/delivery.ts';
import { endSliceQuery } from '../store/pending/ends.ts';
import { promoteNextQuery } from '../store/pending/lanes.ts';
import { insertDelivery, openDispatcherDatabase, resultOf } from '../test-deliveries.ts';
import { upTo } from '../test-fixture.ts';
import type { AttemptResult } from './attempt.ts';
import { ResultRecorder } from './result-recorder.ts';

let database: TestDatabase;
let recorder: ResultRecorder;
/** The ids of the promoted deliveries. */
let promoted: string[];
/** The ordering keys of the lanes in which deliveries ended, and of those in which one was promoted. */
let lanes: { ended: string[]; promoted: string[] };
beforeEach(async () => {
  promoted = [];
  lanes = { ended: [], promoted: [] };
  database = await openDispatcherDatabase();
  recorder = recorderOn(database.sql);
});
afterEach(async () => {
  await recorder.close();
  await database.drop();
});

function recorderOn(pool: pg.Pool, log = silentLog): ResultRecorder {
  return new ResultRecorder({
    pool,
    log,
    destinationLog: () => undefined,
    leaseMs: 10_000,
    holdMs: 10_000,
    disableAfterMs: 60_000,
    queue: {
      add: (deliveries) => void promoted.push(...deliveries.map(({ id }) => id)),
      drop: () => undefined,
    },
    backlog: { expectDue: () => undefined },
    breakers: { has: () => false },
    deferredResults: {
      updateWaiting(ended, next) {
        lanes.ended.push(...ended.map(({ orderingKey }) => orderingKey));
        lanes.promoted.push(...next.map(({ orderingKey }) => orderingKey));
      },
    },
    onDisabled: () => undefined,
  });
}

/** A delivery that a process has leased, or a waiting one behind it in the lane. */
const leased = (
  { orderingKey = randomUUID(), destinationId = randomUUID() }: Partial<Lane> = {},
  { isWaiting = false } = {},
): Promise<LeasedDelivery> =>
  insertDelivery(database.sql, {
    ...{ orderingKey, destinationId },
    ...(isWaiting
      ? { state: 'waiting' }
      : { leased: true, nextAttemptAt: new Date(Date.now() + 60_000) }),
  });

async function rowsOf({ id }: LeasedDelivery) {
  const { rows } = await database.sql.query(
    `SELECT state, attempts, array(SELECT status FROM attempts WHERE delivery_id = id) AS statuses
     FROM deliveries WHERE id = $1`,
    [id],
  );
  return rows;
}

/** Makes the due deliveries to a destination dead, as when it is removed. */
async function endPendingOf(destinationId: string): Promise<void> {
  const after = { createdAt: '-infinity', id: NIL_UUID };
  const slice = { destinationId, reason: 'destination_removed', state: 'due', after } as const;
  await runQuery(database.sql, endSliceQuery({ ...slice, limit: 10 }));
}

/** How many connections wait for a lock. */
async function countWaiting(): Promise<number> {
  const { rowCount } = await database.sql.query(
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rowCount ?? 0;
}

test('a success from before a replay leaves the replay to be sent', async () => {
  const delivery = await leased();
  await database.sql.query('UPDATE deliveries SET replays = 1, fence = 2 WHERE id = $1', [
    delivery.id,
  ]);
  const replayed = { ...delivery, replays: 1, fence: 2 };
  await recorder.record(resultOf(delivery, 200));
  expect(await rowsOf(delivery)).toMatchObject([{ state: 'due', attempts: 0 }]);

  const results = [resultOf(delivery, 200), resultOf(replayed, 500)];
  await Promise.all(results.map((it) => recorder.record(it)));
  expect(await rowsOf(delivery)).toMatchObject([{ state: 'due', statuses: [500] }]);
});

test('two results of one delivery count as one, and as a success when either is a success', async () => {
  const [twice, other] = [await leased(), await leased()];
  await Promise.all(
    [resultOf(twice, 500), resultOf(other, 200), resultOf(twice, 200), resultOf(twice, 503)].map(
      (one) => recorder.record(one),
    ),
  );
  const delivered = [{ state: 'delivered', attempts: 1, statuses: [200] }];
  expect(await rowsOf(twice)).toEqual(delivered);
  expect(await rowsOf(other)).toEqual(delivered);
});

test('a result whose attempt is stored already still changes the delivery', async () => {
  const delivery = await leased();
  await database.sql.query(
    'INSERT INTO attempts (delivery_id, number, started_at, duration_ms) VALUES ($1, 1, now(), 1)',
    [delivery.id],
  );
  await recorder.record(resultOf(delivery, 200));
  expect(await rowsOf(delivery)).toMatchObject([{ state: 'delivered', attempts: 1 }]);
});

test('a result that the database refuses is not written, and the others of its batch are', async () => {
  const deliveries = await Promise.all(upTo(9).map(() => leased()));
  const [first, refused] = deliveries;
  if (first === undefined || refused === undefined) throw new Error('there are nine');
  const broken = { ...resultOf(refused, 200), durationMs: 2 ** 40 };
  await Promise.all(
    deliveries.map((one) => recorder.record(one === refused ? broken : resultOf(one, 200))),
  );
  for (const one of deliveries) {
    const state = one === refused ? 'due' : 'delivered';
    expect(await rowsOf(one)).toMatchObject([{ state }]);
  }
});

test('a result that cannot be written because of a lock is written once the lock is gone', async () => {
  const delivery = await leased();
  const client = await database.sql.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE deliveries');
  const tries = vi.spyOn(database.sql, 'connect');
  const written = recorder.record(resultOf(delivery, 200));
  // More tries than a refused result has.
  await vi.waitFor(() => expect(tries.mock.calls.length).toBeGreaterThan(5), 10_000);
  await client.query('ROLLBACK');
  client.release();
  await written;
  expect(await rowsOf(delivery)).toMatchObject([{ state: 'delivered' }]);
});

test('when a delivery reaches a final state, the next delivery of its lane is leased', async () => {
  const first = await leased();
  const second = await leased(first, { isWaiting: true });
  const third = await leased(first, { isWaiting: true });
  await recorder.record(resultOf(first, 503));
  expect(promoted).toEqual([]);
  expect(lanes).toEqual({ ended: [], promoted: [] });
  await recorder.record({ ...resultOf(first, 200), delivery: { ...first, fence: 2 } });
  expect(promoted).toEqual([second.id]);
  expect(lanes).toEqual({ ended: [first.orderingKey], promoted: [first.orderingKey] });
  expect(await rowsOf(second)).toMatchObject([{ state: 'due' }]);
  expect(await rowsOf(third)).toMatchObject([{ state: 'waiting' }]);
});

test('the answers to failed attempts are stored with the attempts, also when a delivery ended meanwhile', async () => {
  const [due, late] = [await leased(), await leased()];
  await endPendingOf(late.destinationId);
  const answered = [due, late].map((one) => ({
    ...resultOf(one, 500),
    sealedAnswer: Buffer.from(one.id),
  }));
  await Promise.all(answered.map((one) => recorder.record(one)));
  const { rows } = await database.sql.query(
    `SELECT delivery_id::text AS id, convert_from(sealed, 'UTF8') AS sealed
     FROM attempts JOIN attempt_answers USING (delivery_id, started_at) ORDER BY id`,
  );
  const ids = [due.id, late.id].sort();
  expect(rows).toEqual(ids.map((id) => ({ id, sealed: id })));
});

test('a batch that takes longer than a statement may is written in parts', async () => {
  await database.sql.query(
    `CREATE FUNCTION limit_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF (SELECT count(*) FROM changed) > 2 THEN
         RAISE 'canceling statement due to statement timeout' USING ERRCODE = '57014';
       END IF;
       RETURN NULL;
     END $$;
     CREATE TRIGGER limit_rows AFTER DELETE ON deliveries REFERENCING OLD TABLE AS changed
       FOR EACH STATEMENT EXECUTE FUNCTION limit_rows()`,
  );
  const deliveries = [await leased(), await leased(), await leased(), await leased()];
  await Promise.all(deliveries.map((one) => recorder.record(resultOf(one, 200))));
  for (const one of deliveries) expect(await rowsOf(one)).toMatchObject([{ state: 'delivered' }]);
});

test('results that a deadlock has ended are written again, with a warning', async () => {
  await database.sql.query(
    `CREATE SEQUENCE tries;
     CREATE FUNCTION end_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF nextval('tries') = 1 THEN RAISE 'deadlock detected' USING ERRCODE = '40P01'; END IF;
       RETURN NULL;
     END $$;
     CREATE TRIGGER end_first AFTER DELETE ON deliveries FOR EACH STATEMENT EXECUTE FUNCTION end_first()`,
  );
  const lines: string[] = [];
  const log = createLog('recorder', {
    destination: { write: (line: string) => void lines.push(line) },
  });
  const writing = recorderOn(database.sql, log);
  const deliveries = [await leased(), await leased()];
  await Promise.all(deliveries.map((one) => writing.record(resultOf(one, 200))));
  await writing.close();
  for (const one of deliveries) {
    expect(await rowsOf(one)).toEqual([{ state: 'delivered', attempts: 1, statuses: [200] }]);
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 'warn', attempt: 1 }]);
});

test('a result whose delivery stays locked holds up no later result', async () => {
  const [locked, other, later] = [await leased(), await leased(), await leased()];
  const holder = await database.sql.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [locked.id]);
  const [blocked, written] = [locked, other].map((one) => recorder.record(resultOf(one, 200)));
  await written;
  await recorder.record(resultOf(later, 200));
  for (const one of [other, later])
    expect(await rowsOf(one)).toMatchObject([{ state: 'delivered' }]);
  await holder.query('ROLLBACK');
  holder.release();
  await blocked;
  expect(await rowsOf(locked)).toMatchObject([{ state: 'delivered' }]);
});

test('a success of a delivery that ended meanwhile and stays locked holds up no other result', async () => {
  const [late, first] = [await leased(), await leased()];
  const next = await leased(first, { isWaiting: true });
  await endPendingOf(late.destinationId);
  const holder = await database.sql.connect();
  await holder.query('BEGIN');
  const { rows: before } = await holder.query(
    'SELECT settled_at FROM deliveries WHERE id = $1 FOR UPDATE',
    [late.id],
  );
  const [blocked, written] = [late, first].map((one) => recorder.record(resultOf(one, 200)));
  await written;
  expect(promoted).toEqual([next.id]);
  await holder.query('ROLLBACK');
  holder.release();
  await blocked;
  expect(await rowsOf(late)).toEqual([{ state: 'delivered', attempts: 1, statuses: [200] }]);
  const { rows: after } = await database.sql.query(
    'SELECT settled_at FROM deliveries WHERE id = $1',
    [late.id],
  );
  expect(after).toEqual(before);
});

test('the next delivery of a lane is leased although a late result of the batch is refused', async () => {
  const [filler, late, first] = [await leased(), await leased(), await leased()];
  const next = await leased(first, { isWaiting: true });
  await endPendingOf(late.destinationId);
  await database.sql.query(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
     CREATE TRIGGER refuse BEFORE UPDATE ON deliveries_ended FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  await Promise.all([filler, late, first].map((one) => recorder.record(resultOf(one, 200))));
  expect(promoted).toEqual([next.id]);
});

test('when a replay and a later delivery of its lane end in two replicas at once, the next delivery is leased', async () => {
  const replayed = { ...(await leased()), replays: 1 };
  const later = await leased(replayed);
  const next = await leased(replayed, { isWaiting: true });
  await database.sql.query('UPDATE deliveries SET replays = 1 WHERE id = $1', [replayed.id]);

  // The other replica has recorded the result of the later delivery and has found no delivery to promote, because
  // the replayed one holds the lane; it has not committed yet.
  const other = await database.sql.connect();
  await other.query('BEGIN');
  await other.query("UPDATE deliveries SET state = 'delivered', leased = false WHERE id = $1", [
    later.id,
  ]);
  let isRecorded = false;
  const recorded = recorder.record(resultOf(replayed, 200)).then(() => {
    isRecorded = true;
  });
  await vi.waitFor(async () => expect(isRecorded || (await countWaiting()) > 0).toBe(true), 10_000);
  await other.query('COMMIT');
  other.release();
  await recorded;
  expect(promoted).toEqual([next.id]);
  expect(await rowsOf(next)).toMatchObject([{ state: 'due' }]);
});

test('a delivery that another transaction is promoting at the same time is leased by that one alone', async () => {
  const first = await leased();
  const next = await leased(first, { isWaiting: true });
  await database.sql.query('UPDATE deliveries SET holding = false WHERE id = $1', [first.id]);
  const promote = (db: pg.Pool | pg.PoolClient) => runQuery(db, promoteNextQuery([first], 10_000));
  const other = await database.sql.connect();
  await other.query('BEGIN');
  expect(await promote(other)).toMatchObject([{ id: next.id, fence: 2 }]);
  const promoting = promote(database.sql);
  await expect.poll(countWaiting).toBe(1);
  await other.query('COMMIT');
  other.release();
  expect(await promoting).toEqual([]);
  expect(await rowsOf(next)).toMatchObject([{ state: 'due' }]);
});

const dead = (delivery: LeasedDelivery): AttemptResult => ({
  ...resultOf(delivery, 500),
  state: 'dead',
  reason: 'attempts_exhausted',
});

test('when a destination turns out to have failed for too long, the next delivery is due and not leased', async () => {
  const first = await leased();
  const second = await leased(first, { isWaiting: true });
  await database.sql.query(
    "INSERT INTO destination_states (destination_id, failing_since) VALUES ($1, now() - interval '1 day')",
    [first.destinationId],
  );
  await recorder.record(dead(first));
  expect(promoted).toEqual([]);
  const { rows } = await database.sql.query('SELECT state, leased FROM deliveries WHERE id = $1', [
    second.id,
  ]);
  expect(rows).toEqual([{ state: 'due', leased: false }]);
});
