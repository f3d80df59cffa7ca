/**
 * The outbox by day. Unpublished rows are in a small table, the queue of the relay; the mark of publication moves a row into
 * the partition of the day in which it was published. So an unpublished event is never dropped with a day.
 *
 * Both are partitions of the table `outbox`, to which every statement refers, also those of earlier versions. The rows of
 * an earlier version stay in a partition of their own, by their ids, until all of them are past retention.
 */
import type { Migration } from '@creditlane/postgres/migrate';
import { type DayPartitions, makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import type { EarlierTable } from '@creditlane/postgres/partitions/earlier-tables';
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import {
  concurrentIndexMigration,
  sqlMigration,
  validateConstraintMigration,
} from '@creditlane/postgres/sql-migration';
import { defineStatement } from '@creditlane/postgres/statement';
import type pg from 'pg';
import { allowAppendingSql, OUTBOX_SHARDS } from './outbox.ts';

/** Published events are kept for a week, to be published again if the broker loses its data. */
const KEPT_DAYS = 7;

export const OUTBOX_PARTITIONS: DayPartitions = {
  table: 'outbox_published',
  key: 'timestamptz',
  retentionDays: KEPT_DAYS,
};

/** Only what is published on a day without a partition is in the default partition. */
export const purgeOutbox = definePurge(
  'outbox_purge',
  deleteOlderThanSql('outbox_published_default', 'published_at', `${KEPT_DAYS} days`),
);

/** More ids than an earlier version can draw between two of the migrations. */
const MARGIN = 1_000_000_000;

/** Names the table, so that the migration waits for its VACUUM. Writes wait for no lock of this statement. */
const waitForVacuumSql = 'ALTER TABLE outbox SET (fillfactor = 100)';

const limitIdsSql: readonly string[] = [
  waitForVacuumSql,
  `DO $do$ BEGIN
     EXECUTE format('ALTER TABLE outbox ADD CONSTRAINT outbox_before CHECK (id < %s) NOT VALID',
       coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')::regclass), 0) + ${MARGIN});
   END $do$`,
];

const replaceSql: readonly string[] = [
  waitForVacuumSql,
  'ALTER TABLE outbox RENAME TO outbox_before',
  'ALTER INDEX outbox_pkey RENAME TO outbox_before_pkey',
  'ALTER INDEX outbox_unpublished RENAME TO outbox_before_unpublished',
  `CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY,
    shard smallint NOT NULL,
    topic text NOT NULL,
    key text NOT NULL,
    event_id uuid NOT NULL DEFAULT gen_random_uuid(),
    type text NOT NULL,
    payload jsonb NOT NULL,
    traceparent text,
    created_at timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz
  ) PARTITION BY RANGE (id)`,
  // The table of a new installation has no row, and is not kept. What a raise of the shards has changed stays so.
  `DO $do$
   DECLARE
     is_new constant boolean := pg_relation_size('outbox_before') = 0;
     drawn bigint := coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox_before', 'id')::regclass), 0);
     raised constant boolean := EXISTS (
       SELECT FROM pg_trigger WHERE tgrelid = 'outbox_before'::regclass AND tgname = 'assign_outbox_shard');
   BEGIN
     IF raised THEN
       DROP TRIGGER assign_outbox_shard ON outbox_before;
     ELSE
       ALTER TABLE outbox ADD CONSTRAINT outbox_shard_check CHECK (shard >= 0 AND shard < ${OUTBOX_SHARDS});
     END IF;
     IF is_new THEN
       DROP TABLE outbox_before;
       CREATE TABLE outbox_since PARTITION OF outbox FOR VALUES FROM (MINVALUE) TO (MAXVALUE)
         PARTITION BY LIST ((published_at IS NULL));
     ELSE
       SELECT substring(pg_get_constraintdef(oid) FROM '[0-9]+')::bigint - 1 INTO drawn
       FROM pg_constraint WHERE conrelid = 'outbox_before'::regclass AND conname = 'outbox_before';
       ALTER TABLE outbox_before ALTER COLUMN id DROP IDENTITY;
       EXECUTE format('ALTER TABLE outbox ATTACH PARTITION outbox_before
         FOR VALUES FROM (MINVALUE) TO (%s)', drawn + 1);
       EXECUTE format('CREATE TABLE outbox_since PARTITION OF outbox FOR VALUES FROM (%s) TO (MAXVALUE)
         PARTITION BY LIST ((published_at IS NULL))', drawn + 1);
     END IF;
     -- The ids count as drawn: a position below them, which a consumer has, is no position of the future.
     PERFORM setval(pg_get_serial_sequence('outbox', 'id'), greatest(drawn, 1), drawn > 0);
     IF raised THEN
       CREATE TRIGGER assign_outbox_shard BEFORE INSERT OR UPDATE ON outbox
         FOR EACH ROW WHEN (NEW.published_at IS NULL) EXECUTE FUNCTION assign_outbox_shard();
     END IF;
   END $do$`,
  // Every row leaves this table: it is vacuumed by the number of the rows that left, not by its size. It keeps its pages:
  // giving them back takes a lock for which reads and writes wait, and an empty table would be read as a whole.
  `CREATE TABLE outbox_waiting PARTITION OF outbox_since FOR VALUES IN (true)
     WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = off)`,
  'CREATE INDEX outbox_unpublished ON outbox_waiting (shard, id)',
  'CREATE INDEX outbox_waiting_id ON outbox_waiting (id)',
  `CREATE TABLE outbox_published PARTITION OF outbox_since FOR VALUES IN (false)
     PARTITION BY RANGE (published_at)`,
  'CREATE INDEX outbox_published_id ON outbox_published (id)',
  'CREATE TABLE outbox_published_default PARTITION OF outbox_published DEFAULT',
  'CREATE INDEX outbox_published_default_at ON outbox_published_default (published_at)',
  makeDaysSql(OUTBOX_PARTITIONS, 0),
  allowAppendingSql,
];

/**
 * The migrations that make the outbox of earlier versions the first partition of one by day. Services of earlier versions
 * run beside them and after them.
 * @param since the earliest migration whose version can use the database afterwards
 */
export function outboxByDayMigrations(since: Migration): Migration[] {
  return [
    sqlMigration('OutboxByDay1765400000003', { up: limitIdsSql, compatibility: { since } }),
    validateConstraintMigration('OutboxIdsLimited1765400000004', ['outbox', 'outbox_before'], {
      since,
    }),
    sqlMigration('OutboxReplaced1765400000005', {
      up: replaceSql,
      compatibility: { since },
    }),
    concurrentIndexMigration(
      'OutboxKeys1765400000006',
      'outbox_waiting_key',
      'outbox_waiting (key, id)',
    ),
  ];
}

/** The newest ids come last, so that the rows are read only once the newest one is past retention. */
const IS_KEPT_SQL = `SELECT
  EXISTS (SELECT FROM outbox_before WHERE published_at IS NULL)
    OR (SELECT published_at FROM outbox_before ORDER BY id DESC LIMIT 1) > now() - interval '${KEPT_DAYS} days'
    AS kept`;

/** Rows of a slice that is read. */
const SLICE_ROWS = 100_000;

const selectSlice = defineStatement<{ last: number | null; secondsLeft: number }>(
  'outbox_before_slice',
  `SELECT max(id) AS last,
     coalesce(extract(epoch FROM max(published_at) - now())::float8 + ${KEPT_DAYS} * 86400, 0) AS "secondsLeft"
   FROM (SELECT id, published_at FROM outbox_before WHERE id > $1 ORDER BY id LIMIT ${SLICE_ROWS}) AS slice`,
);

/** In how many seconds the last row is past retention; 0 when all are. An event may have been published late. */
async function readSecondsLeft(pool: pg.Pool): Promise<number> {
  for (let last: number | null = 0; last !== null; ) {
    const [slice] = await selectSlice.run(pool, [last]);
    if (slice && slice.secondsLeft > 0) return slice.secondsLeft;
    last = slice?.last ?? null;
  }
  return 0;
}

/** The partition with the rows of an earlier version, which is kept until all of them are published and past retention. */
export function earlierOutbox(): EarlierTable {
  // By performance.now(): a row that was published late, which `isKeptByAnyRow` found, keeps the table until then. So all
  // rows are read again only afterwards.
  let keptUntilMs = 0;
  return {
    name: 'outbox_before',
    parent: 'outbox',
    async isKept(db) {
      if (performance.now() < keptUntilMs) return true;
      return (await db.query(IS_KEPT_SQL)).rows[0]?.kept === true;
    },
    async isKeptByAnyRow(pool) {
      const secondsLeft = await readSecondsLeft(pool);
      keptUntilMs = performance.now() + secondsLeft * 1_000;
      return secondsLeft > 0;
    },
  };
}
