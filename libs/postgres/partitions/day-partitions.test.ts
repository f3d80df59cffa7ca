import { firstIdOfTime } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { isLockTimeout } from '../error-classes.ts';
import { AWAITED_LOCKS_SQL } from '../test-awaited-locks.ts';
import { type OpenTestDatabase, openTestDatabase } from '../test-open-database.ts';
import {
  countDaysAhead,
  DAYS_AHEAD,
  type DayPartitions,
  dropUnlessKept,
  maintainDays,
} from './day-partitions.ts';
import { startPartitions } from './start-partitions.ts';

const DAY_MS = 86_400_000;
const NOTES: DayPartitions = { table: 'notes', key: 'timestamptz', retentionDays: 7 };
const EVENTS: DayPartitions = {
  table: 'events',
  key: 'uuid',
  retentionDays: 7,
  retainingRowsSql: ({ name }) => `SELECT FROM ${name} WHERE is_needed`,
};

let db: OpenTestDatabase;
beforeAll(async () => {
  db = await openTestDatabase('day_partitions', []);
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.pool.query(`DROP TABLE IF EXISTS notes, events;
    CREATE TABLE notes (at timestamptz NOT NULL, text text CHECK (text <> '')) PARTITION BY RANGE (at);
    CREATE INDEX notes_at ON notes (at);
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
    CREATE TABLE notes_default PARTITION OF notes DEFAULT;
    CREATE TABLE events (id uuid PRIMARY KEY, is_needed boolean) PARTITION BY RANGE (id);
    CREATE TABLE events_default PARTITION OF events DEFAULT`);
});

/** Midnight (UTC) this many days from today by the clock of this machine, which is also that of PostgreSQL. */
const midnight = (days: number) => Math.floor(Date.now() / DAY_MS + days) * DAY_MS;
const dayName = (table: string, days: number) =>
  `${table}_${new Date(midnight(days)).toISOString().slice(0, 10).replaceAll('-', '')}`;
const noon = (days: number) => new Date(midnight(days) + DAY_MS / 2);

async function partitionsOf(table: string): Promise<string[]> {
  const { rows } = await db.pool.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
     WHERE inhparent = $1::regclass ORDER BY name`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** Attaches the partition of a day, as it was made ahead then. */
async function attachDay(table: string, days: number, bounds: [string, string]): Promise<string> {
  const name = dayName(table, days);
  await db.pool.query(`CREATE TABLE ${name} PARTITION OF ${table}
    FOR VALUES FROM ('${bounds[0]}') TO ('${bounds[1]}')`);
  return name;
}
const attachNotesOf = (days: number) =>
  attachDay('notes', days, [
    new Date(midnight(days)).toISOString(),
    new Date(midnight(days + 1)).toISOString(),
  ]);
const attachEventsOf = (days: number) =>
  attachDay('events', days, [firstIdOfTime(midnight(days)), firstIdOfTime(midnight(days + 1))]);

/** Resolves when a statement waits for a lock on the table. */
async function dropWaitsFor(table: string): Promise<void> {
  const count = async () => (await db.pool.query(AWAITED_LOCKS_SQL, [table])).rowCount;
  await expect.poll(count, { interval: 5, timeout: 15_000 }).toBe(1);
}

test('days are made from today on, with the indexes, checks and row security of the table', async () => {
  expect(await countDaysAhead(db.pool, NOTES)).toBe(0);
  await maintainDays(db.pool, NOTES);
  expect(await countDaysAhead(db.pool, NOTES)).toBe(DAYS_AHEAD);
  const names = Array.from({ length: DAYS_AHEAD + 1 }, (_, days) => dayName('notes', days));
  expect(await partitionsOf('notes')).toEqual([...names, 'notes_default']);
  const { rows } = await db.pool.query(
    `SELECT relrowsecurity, (SELECT count(*)::int FROM pg_index WHERE indrelid = pg_class.oid) AS indexes,
       (SELECT count(*)::int FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'c') AS checks
     FROM pg_class WHERE relname = $1`,
    [names[3]],
  );
  expect(rows).toEqual([{ relrowsecurity: true, indexes: 1, checks: 1 }]);
});

test.each(['notes', 'events'])('a row of %s is in the partition of its day', async (table) => {
  const partitions = table === 'notes' ? NOTES : EVENTS;
  await maintainDays(db.pool, partitions);
  for (const days of [0, 1, DAYS_AHEAD]) {
    for (const atMs of [midnight(days), midnight(days + 1) - 1]) {
      const value = table === 'notes' ? new Date(atMs) : firstIdOfTime(atMs);
      const { rows } = await db.pool.query(
        `INSERT INTO ${table} VALUES ($1) RETURNING tableoid::regclass::text AS partition`,
        [value],
      );
      expect(rows).toEqual([{ partition: dayName(table, days) }]);
    }
  }
});

test('a row whose day has no partition is written, and its day stays in the default partition', async () => {
  const insert = (days: number) =>
    db.pool.query(`INSERT INTO notes VALUES ($1) RETURNING tableoid::regclass::text AS partition`, [
      noon(days),
    ]);
  expect((await insert(2)).rows).toEqual([{ partition: 'notes_default' }]);
  await maintainDays(db.pool, NOTES);
  expect(await countDaysAhead(db.pool, NOTES)).toBe(1);
  expect((await insert(2)).rows).toEqual([{ partition: 'notes_default' }]);
  expect((await insert(3)).rows).toEqual([{ partition: dayName('notes', 3) }]);
});

test('a day is dropped when its retention has ended, and no other partition', async () => {
  const kept = await attachNotesOf(-7);
  const ended = await attachNotesOf(-8);
  await db.pool.query('INSERT INTO notes VALUES ($1), ($2), ($3)', [noon(-7), noon(-8), noon(-9)]);
  await maintainDays(db.pool, NOTES);
  const names = await partitionsOf('notes');
  expect(names).toContain(kept);
  expect(names).not.toContain(ended);
  const { rows } = await db.pool.query('SELECT at FROM notes ORDER BY at');
  expect(rows.map(({ at }) => at)).toEqual([noon(-9), noon(-7)]);
});

test('a day with a row that is needed is kept until the row is not needed', async () => {
  const name = await attachEventsOf(-8);
  const id = firstIdOfTime(midnight(-8));
  await db.pool.query('INSERT INTO events VALUES ($1, true)', [id]);
  await maintainDays(db.pool, EVENTS);
  expect(await partitionsOf('events')).toContain(name);
  await db.pool.query('UPDATE events SET is_needed = false');
  await maintainDays(db.pool, EVENTS);
  expect(await partitionsOf('events')).not.toContain(name);
});

test('a day is kept when a row that is needed is committed while the drop waits', async () => {
  const name = await attachEventsOf(-8);
  await maintainDays(db.pool, { ...EVENTS, retentionDays: 8 });
  const writer = await db.pool.connect();
  await writer.query('BEGIN');
  await writer.query('INSERT INTO events VALUES ($1, true)', [firstIdOfTime(midnight(-8))]);
  // The drop either waits for the commit, or gives up before it.
  const dropped = maintainDays(db.pool, EVENTS).catch((error) => error);
  await Promise.race([dropped, dropWaitsFor('events')]);
  await writer.query('COMMIT');
  writer.release();
  expect([undefined, true]).toContain((await dropped) && isLockTimeout(await dropped));
  expect(await partitionsOf('events')).toContain(name);
});

test('while a transaction has read the table, nothing waits for the drop, which is done later', async () => {
  const name = await attachNotesOf(-8);
  await maintainDays(db.pool, { ...NOTES, retentionDays: 8 });
  const reader = await db.pool.connect();
  await reader.query('BEGIN');
  await reader.query('SELECT FROM notes');
  const refused = await maintainDays(db.pool, NOTES).catch((error) => error);
  expect(isLockTimeout(refused)).toBe(true);
  expect(await partitionsOf('notes')).toContain(name);
  await reader.query('COMMIT');
  reader.release();
  await maintainDays(db.pool, NOTES);
  expect(await partitionsOf('notes')).not.toContain(name);
});

test('a statement that has locked the table uses the partition while a drop waits for the statement', async () => {
  const name = await attachNotesOf(-8);
  const [statement, dropper] = await Promise.all([db.pool.connect(), db.pool.connect()]);
  await statement.query('BEGIN; LOCK TABLE ONLY notes IN ROW EXCLUSIVE MODE');
  await dropper.query('BEGIN');
  const isKept = async () => false;
  const drop = dropUnlessKept(dropper, { parent: 'notes', name, isKept });
  const dropping = drop.catch((error) => error);
  await dropWaitsFor('notes');
  await statement.query('INSERT INTO notes VALUES ($1)', [noon(-8)]);
  await statement.query('COMMIT');
  // PostgreSQL releases a transaction's locks one by one, so the drop may find that of the partition still held.
  const dropped = await dropping;
  if (dropped !== 'dropped') expect(dropped).toSatisfy(isLockTimeout);
  await dropper.query('ROLLBACK');
  for (const client of [statement, dropper]) client.release();
});

test('several processes at once make and drop each day once', async () => {
  await attachNotesOf(-8);
  await Promise.all([1, 2, 3].map(() => maintainDays(db.pool, NOTES)));
  await maintainDays(db.pool, NOTES);
  expect(await partitionsOf('notes')).toHaveLength(DAYS_AHEAD + 2);
});

test('a service makes its partitions when it starts, and reports how many days they reach', async () => {
  const { pool, metrics } = db;
  const task = startPartitions({
    ...{ pool, log: silentLog, metrics, service: 'test', tables: [NOTES, EVENTS] },
  });
  await expect.poll(() => countDaysAhead(pool, EVENTS), { timeout: 15_000 }).toBe(DAYS_AHEAD);
  await task.close();
  expect(await metrics.text()).toContain(
    `creditlane_table_partition_days_ahead{service="test",table="notes"} ${DAYS_AHEAD}`,
  );
});
