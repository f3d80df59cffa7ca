/**
 * The inbox by day. Its partitions are ranges of event ids, which begin with their time: an event has one partition,
 * whenever it arrives, so that each partition's primary key recognises a repeated event.
 *
 * Event ids of earlier versions are random; nearly all of them sort before or after every day. They, and ids whose day has
 * no partition, are in partitions of their own.
 */
import type { Migration } from '@creditlane/postgres/migrate';
import { type DayPartitions, makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import { definePurge, deleteOlderThanSql, type Purge } from '@creditlane/postgres/retention';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { firstIdOfTime, NIL_UUID } from '@creditlane/runtime/ids';

/** Longer than any topic keeps its messages: a message delivered again must be found in the inbox. */
const KEPT_DAYS = 30;

/** SQL condition on a row that is kept. */
const IS_KEPT = `received_at > now() - interval '${KEPT_DAYS} days'`;

/** An event may wait for days before it is handled: a partition is kept while it has a row that was received since. */
export const INBOX_PARTITIONS: DayPartitions = {
  table: 'inbox',
  key: 'uuid',
  retentionDays: KEPT_DAYS,
  retainingRowsSql: ({ name }) => `SELECT FROM ${name} WHERE ${IS_KEPT}`,
};

const OTHER_PARTITIONS = ['inbox_low', 'inbox_high', 'inbox_default'];

export const purgesOfInbox: readonly Purge[] = OTHER_PARTITIONS.map((table) =>
  definePurge(`${table}_purge`, deleteOlderThanSql(table, 'received_at', `${KEPT_DAYS} days`)),
);

const FIRST_DAY_ID = firstIdOfTime(Date.UTC(2025, 0, 1));
const LAST_DAY_ID = firstIdOfTime(Date.UTC(2125, 0, 1));

/** The new table has another name until all rows are in it. */
const NEW = 'inbox_by_day';

const createSql: readonly string[] = [
  `CREATE TABLE ${NEW} (
    consumer text NOT NULL,
    event_id uuid NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    expected_effects integer,
    PRIMARY KEY (consumer, event_id)
  ) PARTITION BY RANGE (event_id)`,
  `CREATE INDEX ${NEW}_age ON ${NEW} USING brin (received_at)`,
  `CREATE TABLE inbox_low PARTITION OF ${NEW} FOR VALUES FROM (MINVALUE) TO ('${FIRST_DAY_ID}')`,
  `CREATE TABLE inbox_high PARTITION OF ${NEW} FOR VALUES FROM ('${LAST_DAY_ID}') TO (MAXVALUE)`,
  `CREATE TABLE inbox_default PARTITION OF ${NEW} DEFAULT`,
  ...OTHER_PARTITIONS.map((table) => `CREATE INDEX ON ${table} (received_at)`),
  // The inbox_purge of the last release deletes by `ctid`, which is unique only in one partition: it would also delete
  // rows with the same ctid in other partitions, and their events would be handled twice.
  `CREATE FUNCTION inbox_keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  `CREATE TRIGGER keep BEFORE DELETE ON ${NEW} FOR EACH ROW WHEN (OLD.${IS_KEPT})
   EXECUTE FUNCTION inbox_keep()`,
  // A new installation has no rows of earlier days.
  makeDaysSql(
    INBOX_PARTITIONS,
    `CASE WHEN pg_relation_size('inbox') = 0 THEN 0 ELSE ${KEPT_DAYS} END`,
    NEW,
  ),
  // Until the new table has replaced the earlier one, what is written there is written here, too.
  `CREATE FUNCTION inbox_copy() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
     INSERT INTO ${NEW} AS copy VALUES (NEW.consumer, NEW.event_id, NEW.received_at, NEW.expected_effects)
     ON CONFLICT (consumer, event_id) DO UPDATE SET expected_effects = excluded.expected_effects;
     RETURN NULL;
   END $f$`,
  'CREATE TRIGGER copy AFTER INSERT OR UPDATE ON inbox FOR EACH ROW EXECUTE FUNCTION inbox_copy()',
  // Names the table, so that the migration waits for its VACUUM.
  'ALTER TABLE inbox ENABLE TRIGGER copy',
];

const replaceSql: readonly string[] = [
  // Names the table, so that the migration waits for its VACUUM.
  'ALTER TABLE inbox DISABLE TRIGGER copy',
  'DROP TABLE inbox',
  'DROP FUNCTION inbox_copy',
  `ALTER TABLE ${NEW} RENAME TO inbox`,
  `ALTER INDEX ${NEW}_pkey RENAME TO inbox_pkey`,
  `ALTER INDEX ${NEW}_age RENAME TO inbox_age`,
];

/** Rows of a slice, which a repeated event among them waits for. */
const SLICE_ROWS = 5_000;

const copySliceSql = `WITH slice AS (
    SELECT consumer, event_id, received_at, expected_effects FROM inbox
    WHERE (consumer, event_id) > ($1, $2::uuid) ORDER BY consumer, event_id LIMIT ${SLICE_ROWS}
  ), copied AS (
    INSERT INTO ${NEW} SELECT * FROM slice WHERE ${IS_KEPT} ON CONFLICT DO NOTHING
  )
  SELECT consumer, event_id FROM slice
  ORDER BY consumer, event_id OFFSET ${SLICE_ROWS - 1}`;

/** Copies the rows from before the trigger was there; each slice is a transaction of its own. */
class InboxCopied implements InstanceType<Migration> {
  readonly name = 'InboxCopied1765200000001';
  readonly compatibility = 'only adds' as const;
  readonly transaction = false;

  async up(runner: Parameters<InstanceType<Migration>['up']>[0]): Promise<void> {
    let last: { consumer: string; event_id: string } | undefined;
    do {
      const { consumer, event_id } = last ?? { consumer: '', event_id: NIL_UUID };
      // A slice that is not full is the last one: what comes after it has been copied by the trigger.
      [last] = await runner.query(copySliceSql, [consumer, event_id]);
    } while (last !== undefined);
  }
}

/**
 * The migrations that replace the inbox of earlier versions by one that is partitioned by day. Services of earlier versions
 * run beside them and after them.
 * @param since the earliest migration whose version can use the database afterwards
 */
export function inboxByDayMigrations(since: Migration): Migration[] {
  return [
    sqlMigration('InboxByDay1765200000000', { up: createSql, compatibility: { since } }),
    InboxCopied,
    sqlMigration('InboxReplaced1765200000002', {
      up: replaceSql,
      compatibility: { since },
    }),
  ];
}
