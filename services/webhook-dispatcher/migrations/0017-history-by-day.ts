import { makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import { enableRowSecuritySql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { sinceReconciliation } from './0013-delivery-storage.ts';

/** What is sent or received soon after the upgrade belongs to deliveries and events of these days. */
const DAYS_BACK = 7;

interface History {
  readonly table: 'attempts' | 'messages';
  /** The columns as they are read and written, without `storage`. */
  readonly columns: readonly string[];
  readonly primaryKey: string;
  /** The column by whose age rows without a day are deleted. */
  readonly age: string;
  readonly rows: string;
}

/**
 * Rows are stored by `storage`: those of an earlier version in the table that there was, later ones by the day in which
 * their delivery or event was made, with which the id begins.
 */
function byDaySql({ table, columns, primaryKey, age, rows }: History): string[] {
  return [
    `ALTER TABLE ${table} RENAME TO ${table}_earlier`,
    `ALTER INDEX ${table}_pkey RENAME TO ${table}_earlier_pkey`,
    `CREATE TABLE ${table} (${columns.join(', ')}, storage text NOT NULL DEFAULT 'day') PARTITION BY LIST (storage)`,
    `CREATE TABLE ${table}_by_day PARTITION OF ${table} FOR VALUES IN ('day')
     PARTITION BY RANGE (${primaryKey.split(',')[0]})`,
    `ALTER TABLE ${table}_by_day ADD PRIMARY KEY (${primaryKey})`,
    `CREATE TABLE ${table}_by_day_default PARTITION OF ${table}_by_day DEFAULT`,
    `CREATE INDEX ON ${table}_by_day_default (${age})`,
    makeDaysSql(
      { table: `${table}_by_day`, key: 'uuid' },
      `CASE WHEN pg_relation_size('${table}_earlier') = 0 THEN 0 ELSE ${DAYS_BACK} END`,
    ),
    ...enableRowSecuritySql(table, { rows, privileges: 'SELECT' }),
    // The comment says since when nothing is added to a table of an earlier version. A new installation has none.
    `DO $do$ BEGIN
       IF pg_relation_size('${table}_earlier') = 0 THEN
         DROP TABLE ${table}_earlier;
       ELSE
         ALTER TABLE ${table} ATTACH PARTITION ${table}_earlier FOR VALUES IN ('earlier');
         EXECUTE format('COMMENT ON TABLE ${table}_earlier IS %L', now());
       END IF;
     END $do$`,
  ];
}

const ATTEMPTS: History = {
  table: 'attempts',
  columns: [
    'delivery_id uuid NOT NULL',
    'number smallint NOT NULL',
    'started_at timestamptz NOT NULL',
    'duration_ms integer NOT NULL',
    'status smallint',
    'failure text',
  ],
  primaryKey: 'delivery_id, number',
  age: 'started_at',
  rows: 'EXISTS (SELECT FROM deliveries WHERE deliveries.id = attempts.delivery_id)',
};

const MESSAGES: History = {
  table: 'messages',
  columns: [
    'event_id uuid NOT NULL',
    'event text NOT NULL',
    'creditor_id uuid NOT NULL',
    'body text',
    'recorded_at timestamptz NOT NULL',
    'traceparent text',
    'reference text',
  ],
  primaryKey: 'event_id',
  age: 'recorded_at',
  rows: 'EXISTS (SELECT FROM deliveries WHERE deliveries.event_id = messages.event_id)',
};

export const historyByDay = [
  sqlMigration('AttemptsByDay1765500000005', {
    up: [
      ...byDaySql(ATTEMPTS),
      // The attempts_purge of the last release deletes by `ctid`, which is unique only in one partition: it would also
      // delete attempts at deliveries that are kept. This version deletes none of a kept delivery. Under row security the
      // policies alone decide, which a test examines. The first version that cannot run beside that release removes the trigger.
      `CREATE FUNCTION attempts_keep() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN
         IF NOT row_security_active('attempts') AND EXISTS (SELECT FROM deliveries WHERE id = OLD.delivery_id) THEN
           RETURN NULL;
         END IF;
         RETURN OLD;
       END $f$`,
      'CREATE TRIGGER keep BEFORE DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION attempts_keep()',
    ],
    compatibility: sinceReconciliation,
  }),
  sqlMigration('MessagesByDay1765500000006', {
    up: [
      ...byDaySql(MESSAGES),
      // For the messages_purge of the last release, which looks in all days for what is older than 30 days.
      'CREATE INDEX messages_by_day_age ON messages_by_day USING brin (recorded_at)',
    ],
    compatibility: sinceReconciliation,
  }),
  sqlMigration('EarlierDeliveriesDated1765500000007', {
    up: [
      `DO $do$ BEGIN
         IF to_regclass('deliveries_earlier') IS NOT NULL THEN
           EXECUTE format('COMMENT ON TABLE deliveries_earlier IS %L', now());
         END IF;
       END $do$`,
    ],
    compatibility: 'only adds',
  }),
];
