/** For tests: partitions of past days, and how often statements look into them. */
import { INBOX_PARTITIONS } from '@creditlane/messaging/inbox-by-day';
import { makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import pg from 'pg';
import { expect } from 'vitest';
import { PARTITIONS } from './store/history/retention.ts';
import type { TestFixture } from './test-fixture.ts';

const DAYS_BACK = 10;

/**
 * Makes the partitions of the last days, and runs `setUp`, while no dispatcher runs. Returns a function that resolves to how
 * often statements have since read each index, or the whole table, of an earlier day than yesterday, by its name, without
 * those that none has read; the dispatchers must be closed again.
 */
export async function watchPastDays(
  { sql, database }: TestFixture,
  setUp: (client: pg.Client) => Promise<unknown> = async () => undefined,
): Promise<() => Promise<Record<string, number>>> {
  const client = new pg.Client({ connectionString: database.url, application_name: 'setup' });
  await client.connect();
  for (const partitions of [...PARTITIONS, INBOX_PARTITIONS]) {
    await client.query(makeDaysSql(partitions, DAYS_BACK));
  }
  await setUp(client);
  await client.end();
  const before = await readScans(sql);
  return async () => {
    const scans = Object.entries(await readScans(sql));
    // A day without an earlier count was yesterday then: it is left out when midnight has passed since.
    const since = scans.map(([name, count]) => [name, count - (before[name] ?? count)] as const);
    return Object.fromEntries(since.filter(([, count]) => count > 0));
  };
}

async function readScans(sql: pg.Pool): Promise<Record<string, number>> {
  // A connection has reported all scans of its own when it has ended.
  const connections = async () => {
    const { rows } = await sql.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name <> ''`,
    );
    return rows.length;
  };
  await expect.poll(connections).toBe(0);
  const { rows } = await sql.query(
    `SELECT name, scans::int FROM (
       SELECT relname, relname AS name, seq_scan AS scans FROM pg_stat_user_tables
       UNION ALL SELECT relname, indexrelname, idx_scan FROM pg_stat_user_indexes
     ) AS counted
     WHERE relname ~ '_[0-9]{8}$'
       AND to_date(right(relname, 8), 'YYYYMMDD') < (now() AT TIME ZONE 'UTC')::date - 1`,
  );
  return Object.fromEntries(rows.map(({ name, scans }) => [name, scans]));
}
