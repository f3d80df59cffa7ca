/**
 * Tables that are partitioned by day (UTC): the days to come are made ahead, and a day past its retention is dropped as a
 * whole, so that no statement looks for old rows and no index keeps dead entries.
 *
 * A row whose day has no partition goes into the default partition, so that no write is refused. No write waits for a
 * change of the partitions for longer than LOCK_WAIT_MS.
 */
import type pg from 'pg';
import { limitLockWaitQuery } from '../lock-wait.ts';
import { runPipeline } from '../pipeline/pipeline.ts';
import { defineStatement, type Queryable } from '../statement.ts';
import { inTransaction } from '../transaction.ts';

/** A table of this kind, with a default partition named `<table>_default`. */
export interface DayPartitions {
  readonly table: string;
  /** What the table is partitioned by: RANGE of a `timestamptz`, or of UUIDs of version 7, which begin with their time. */
  readonly key: 'timestamptz' | 'uuid';
  /** How many days a partition is kept after the end of its day. */
  readonly retentionDays: number;
  /** SQL that returns rows while a day is kept for longer. It is asked each minute, and again under a lock. */
  readonly retainingRowsSql?: (day: DayPartition) => string;
}

/** A partition, and the bounds of its day. */
interface DayPartition {
  readonly name: string;
  readonly fromMs: number;
  readonly beforeMs: number;
}

/** How many days ahead have partitions. */
export const DAYS_AHEAD = 3;
const DAY_MS = 86_400_000;

const BOUND_SQL = {
  timestamptz: (day: string) => `${day}::text || ' 00:00:00+00'`,
  uuid: (day: string) =>
    `regexp_replace(lpad(to_hex(extract(epoch FROM ${day}::timestamp)::bigint * 1000), 12, '0'),
       '(.{8})(.{4})', '\\1-\\2-0000-0000-000000000000')`,
};

/**
 * SQL that makes the partitions of all days from `daysBack` before today to DAYS_AHEAD after it that have none. A new
 * partition is made apart and then attached, which locks the table for no reads and writes, and its default partition for as
 * long as PostgreSQL looks there for rows of that day. A day of which it holds any stays in the default partition.
 * @param daysBack a number, or SQL of one
 * @param parent the table's name while a migration replaces an earlier table by it
 */
export function makeDaysSql(
  { table, key }: Pick<DayPartitions, 'table' | 'key'>,
  daysBack: number | string,
  parent: string = table,
): string {
  const bound = BOUND_SQL[key];
  return `DO $do$
    DECLARE
      today constant date := (now() AT TIME ZONE 'UTC')::date;
      day date;
      name text;
    BEGIN
      FOR n IN -(${daysBack})..${DAYS_AHEAD} LOOP
        day := today + n;
        name := '${table}_' || to_char(day, 'YYYYMMDD');
        CONTINUE WHEN to_regclass(name) IS NOT NULL;
        BEGIN
          EXECUTE format('CREATE TABLE %I (LIKE ${parent} INCLUDING ALL EXCLUDING IDENTITY)', name);
          -- PostgreSQL checks the policies of the table that a statement names; nothing else reaches the partition.
          IF (SELECT relrowsecurity FROM pg_class WHERE oid = '${parent}'::regclass) THEN
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
          END IF;
          EXECUTE format('ALTER TABLE ${parent} ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            name, ${bound('day')}, ${bound('(day + 1)')});
        EXCEPTION WHEN check_violation THEN
          NULL;
        END;
      END LOOP;
    END $do$`;
}

/** The table's partitions of days, by name, with the days from today to each. */
function selectDays({ table }: DayPartitions) {
  return defineStatement<{ name: string; ahead: number }>(
    `${table}_days`,
    `SELECT name, to_date(right(name, 8), 'YYYYMMDD') - (now() AT TIME ZONE 'UTC')::date AS ahead
     FROM (SELECT relname::text AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid
       WHERE inhparent = '${table}'::regclass) AS partitions
     WHERE name ~ '^${table}_[0-9]{8}$' ORDER BY name`,
  );
}

// Processes take turns, and one that finds another at work leaves the work to it. All versions use the lock of this name.
const tryLockPartitions = defineStatement<{ locked: boolean }>(
  'partitions_duty',
  `SELECT pg_try_advisory_xact_lock(hashtextextended('creditlane partitions ' || $1, 0)) AS locked`,
);

/** What a transaction has done with partitions; `another process` at work on them leaves it nothing to do. */
export type PartitionChange = 'made' | 'dropped' | 'none' | 'another process';

/** Runs `change` in a transaction and resolves to its result, unless another process changes partitions of this table. */
export async function changePartitions(
  pool: pg.Pool,
  table: string,
  change: (tx: pg.PoolClient) => Promise<PartitionChange>,
): Promise<PartitionChange> {
  return inTransaction(pool, async (tx) => {
    const lock = tryLockPartitions.query([table]);
    const [, [answer]] = await runPipeline(tx, [limitLockWaitQuery(), lock]);
    return answer?.locked === true ? change(tx) : 'another process';
  });
}

/** Makes the days to come and drops those past retention; rejects with `isLockTimeout` while the table is in use. */
export async function maintainDays(pool: pg.Pool, partitions: DayPartitions): Promise<void> {
  const { table, retentionDays } = partitions;
  const days = await selectDays(partitions).run(pool);
  if (countAhead(days) < DAYS_AHEAD) {
    await changePartitions(pool, table, async (tx) => {
      await tx.query(makeDaysSql(partitions, 0));
      return 'made';
    });
  }
  if (days.every(({ ahead }) => ahead >= -retentionDays)) return;
  // The locks are held for one partition at a time.
  let change: PartitionChange;
  do {
    change = await changePartitions(pool, table, (tx) => dropOneDay(tx, partitions));
  } while (change === 'dropped');
}

/** Drops the first partition that is past retention and has no row that keeps it. */
async function dropOneDay(tx: pg.PoolClient, partitions: DayPartitions): Promise<PartitionChange> {
  const { table, retentionDays, retainingRowsSql = () => 'SELECT WHERE false' } = partitions;
  for (const { name, ahead } of await selectDays(partitions).run(tx)) {
    if (ahead >= -retentionDays) return 'none';
    const fromMs = Date.parse(name.slice(-8).replace(/(....)(..)(..)/, '$1-$2-$3'));
    const sql = retainingRowsSql({ name, fromMs, beforeMs: fromMs + DAY_MS });
    const isKept = async () => (await tx.query(`${sql} LIMIT 1`)).rows.length > 0;
    if (await isKept()) continue;
    return dropUnlessKept(tx, { parent: table, name, isKept });
  }
  return 'none';
}

/**
 * Drops a partition, unless it is kept for a row that a transaction has committed since the caller checked it without a lock.
 * Reads and writes of the parent wait, so `isKept` reads a few rows by indexes.
 *
 * The parent is locked first, as by each statement on it. With the partition locked first, a statement that had locked the parent
 * would wait for the partition, and the detaching for the parent, until the lock timeout.
 */
export async function dropUnlessKept(
  tx: pg.PoolClient,
  { parent, name, isKept }: { parent: string; name: string; isKept(): Promise<boolean> },
): Promise<PartitionChange> {
  await tx.query(`LOCK TABLE ONLY ${parent} IN ACCESS EXCLUSIVE MODE`);
  await tx.query(`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE NOWAIT`);
  if (await isKept()) return 'none';
  await tx.query(`ALTER TABLE ${parent} DETACH PARTITION ${name}`);
  await tx.query(`DROP TABLE ${name}`);
  return 'dropped';
}

/** How many days from tomorrow on have partitions, without a gap. */
export async function countDaysAhead(db: Queryable, partitions: DayPartitions): Promise<number> {
  return countAhead(await selectDays(partitions).run(db));
}

function countAhead(partitions: readonly { ahead: number }[]): number {
  const days = new Set(partitions.map(({ ahead }) => ahead));
  let count = 0;
  while (days.has(count + 1)) count += 1;
  return count;
}
