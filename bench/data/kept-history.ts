/** What past days leave, made by SQL: published events, and ended deliveries with their attempts and messages. */
import { firstIdOfTime } from '@creditlane/runtime/ids';
import { runSql } from './sql.ts';

const DAY_MS = 86_400_000;
export const KEPT_DAYS = 30;
/** Deliveries of an event. */
const FAN_OUT = 5;
const DESTINATIONS = 1_000;
/** How many days are made at the same time. */
const AT_ONCE = 2;

/** The first millisecond of a day, and how many events it has. */
interface Day {
  readonly fromMs: number;
  readonly events: number;
}

/** SQL of the time of event n, in milliseconds: the events are spread evenly over the day. */
const timeSql = ({ fromMs, events }: Day) => `(${fromMs} + n * ${DAY_MS} / ${events})`;

/** SQL of a UUID of version 7 with the time of event n that is unique by `number`. */
const idSql = (day: Day, number: string) =>
  `(lpad(to_hex(${timeSql(day)}), 12, '0') || '70008' || lpad(to_hex(${number}), 15, '0'))::uuid`;

const EVENT = 'n * 16';
const DELIVERY = 'n * 16 + k + 1';
const eventsSql = ({ events }: Day) => `FROM generate_series(0::bigint, ${events - 1}) AS n`;
const deliveriesSql = (day: Day) =>
  `${eventsSql(day)} CROSS JOIN generate_series(0, ${FAN_OUT - 1}) AS k`;

/** A partitioned table, for how many days it is kept, and the SQL that selects the rows of a day. */
interface HistoryTable {
  readonly database: 'decisions' | 'webhook-dispatcher';
  readonly name: string;
  readonly days: number;
  readonly key: 'uuid' | 'timestamptz';
  readonly columns: string;
  readonly selectSql: (day: Day) => string;
}

const TABLES: readonly HistoryTable[] = [
  {
    ...{ database: 'decisions', name: 'outbox_published', days: 7, key: 'timestamptz' },
    columns: 'id, shard, topic, key, event_id, type, payload, created_at, published_at',
    selectSql: (day) =>
      // Below the ids that the service gives.
      `${timeSql(day)} - 1e13::bigint, n % 4, 'creditlane.decisions.v1', n::text, ${idSql(day, EVENT)},
         'creditlane.decisions.v1.DecisionRecorded', '{}', to_timestamp(${timeSql(day)} / 1000.0),
         to_timestamp(${timeSql(day)} / 1000.0) ${eventsSql(day)}`,
  },
  {
    ...{ database: 'webhook-dispatcher', name: 'inbox', days: KEPT_DAYS, key: 'uuid' },
    columns: 'consumer, event_id, received_at, expected_effects',
    selectSql: (day) =>
      `'webhook-dispatcher', ${idSql(day, EVENT)}, to_timestamp(${timeSql(day)} / 1000.0), ${FAN_OUT} ${eventsSql(day)}`,
  },
  {
    ...{ database: 'webhook-dispatcher', name: 'messages_by_day', days: KEPT_DAYS, key: 'uuid' },
    columns: 'event_id, event, creditor_id, body, recorded_at, storage',
    selectSql: (day) =>
      `${idSql(day, EVENT)}, 'applicationApproved', '00000000-0000-4000-8000-000000000001'::uuid, '{}',
         to_timestamp(${timeSql(day)} / 1000.0), 'day' ${eventsSql(day)}`,
  },
  {
    ...{ database: 'webhook-dispatcher', name: 'attempts_by_day', days: KEPT_DAYS, key: 'uuid' },
    columns: 'delivery_id, number, started_at, duration_ms, status, storage',
    selectSql: (day) =>
      `${idSql(day, DELIVERY)}, 1, to_timestamp(${timeSql(day)} / 1000.0), 5, 204, 'day' ${deliveriesSql(day)}`,
  },
  {
    ...{
      database: 'webhook-dispatcher',
      name: 'deliveries_ended',
      days: KEPT_DAYS,
      key: 'timestamptz',
    },
    columns: `id, position, event_id, destination_id, application_id, sequence, state, leased, fence, attempts,
      created_at, settled_at, storage`,
    selectSql: (day) =>
      `${idSql(day, DELIVERY)}, n, ${idSql(day, EVENT)},
         ('00000000-0000-4000-8000-' || lpad(((n * ${FAN_OUT} + k) % ${DESTINATIONS})::text, 12, '0'))::uuid,
         ('00000000-0000-4000-8001-' || lpad((n / 4)::text, 12, '0'))::uuid, n % 4 + 1, 'delivered', false, 1, 1,
         to_timestamp(${timeSql(day)} / 1000.0), to_timestamp(${timeSql(day)} / 1000.0), 'ended' ${deliveriesSql(day)}`,
  },
];

/**
 * Makes as many deliveries for each of `days`, of which the last is `lastDay` days ago, some more than `perDay`. A partition
 * that exists is left as it is. The partitions are filled before they are attached, so that each index is built at once, and
 * are not logged, because nothing writes to them afterwards.
 */
export async function insertKeptHistory(
  urls: Readonly<Record<HistoryTable['database'], string>>,
  { lastDay = 1, days, perDay }: { lastDay?: number; days: number; perDay: number },
): Promise<void> {
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  let made = 0;
  const work = async () => {
    while (made < days) {
      const tables = TABLES.filter((table) => made < table.days);
      const day = {
        fromMs: todayMs - (lastDay + made) * DAY_MS,
        events: Math.ceil(perDay / FAN_OUT),
      };
      made += 1;
      for (const table of tables) await makePartition(urls[table.database], table, day);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function makePartition(url: string, table: HistoryTable, day: Day): Promise<void> {
  const { name, key, columns, selectSql } = table;
  const [from, to] = [day.fromMs, day.fromMs + DAY_MS].map((ms) =>
    key === 'uuid' ? firstIdOfTime(ms).replace('7000-8', '0000-0') : new Date(ms).toISOString(),
  );
  const partition = `${name}_${new Date(day.fromMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
  const [found] = await runSql(url, 'SELECT to_regclass($1) IS NOT NULL AS exists', [partition]);
  if (found?.exists) return;
  // One transaction, so that a partition that exists is whole.
  await runSql(
    url,
    `SET maintenance_work_mem = '256MB';
     SET synchronous_commit = off;
     BEGIN;
     CREATE UNLOGGED TABLE ${partition} (LIKE ${name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)
       WITH (autovacuum_enabled = off);
     INSERT INTO ${partition} (${columns}) SELECT ${selectSql(day)};
     ALTER TABLE ${partition} ENABLE ROW LEVEL SECURITY;
     ALTER TABLE ${name} ATTACH PARTITION ${partition} FOR VALUES FROM ('${from}') TO ('${to}');
     COMMIT`,
  );
  await runSql(url, `VACUUM (ANALYZE) ${partition}`);
}
