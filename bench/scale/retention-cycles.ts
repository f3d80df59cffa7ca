/** Ten days of 100,000 deliveries with all that belongs to them are filled and ended: neither time nor size grows. */
import { decisions } from '@creditlane/decisions/service';
import { INBOX_PARTITIONS } from '@creditlane/messaging/inbox-by-day';
import { OUTBOX_PARTITIONS } from '@creditlane/messaging/outbox-by-day';
import { prepareDatabases } from '@creditlane/platform/databases';
import { makeSecrets } from '@creditlane/platform/secrets';
import { migrate } from '@creditlane/postgres/migrate';
import { maintainDays } from '@creditlane/postgres/partitions/day-partitions';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { webhookDispatcher } from '@creditlane/webhook-dispatcher/service';
import { PARTITIONS } from '@creditlane/webhook-dispatcher/store/history/retention';
import pg from 'pg';
import { insertKeptHistory } from '../data/kept-history.ts';
import { runSql } from '../data/sql.ts';
import { summarizeTimes } from '../load/latency.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const CYCLES = 10;
const DELIVERIES = 100_000;
/** A day past the retention of every table. */
const ENDED_DAY = 32;
/** Later cycles against the first ones. */
const MAX_GROWTH = 1.2;

const DATABASES = {
  decisions: [OUTBOX_PARTITIONS],
  'webhook-dispatcher': [...PARTITIONS, INBOX_PARTITIONS],
} as const;
const NAMES = Object.keys(DATABASES) as (keyof typeof DATABASES)[];

async function measure(scale: Scale): Promise<void> {
  const { socketUrl } = await startBenchPostgres(scale.closers);
  const urls = await prepareDatabases(socketUrl, makeSecrets());
  const log = createLog('bench', { level: 'error', pretty: true });
  for (const { name, database } of [decisions, webhookDispatcher]) {
    await migrate(urls[name], [...database.migrations], log);
  }
  // As the services' own connections.
  const pools = NAMES.map((name) => {
    const options = '-c enable_seqscan=off';
    return { name, pool: new pg.Pool({ connectionString: urls[name], max: 2, options }) };
  });
  for (const { name, pool } of pools) {
    // After `end`, too, the server may close a connection before the pool does.
    pool.on('error', () => undefined);
    scale.closers.add(name, () => pool.end());
  }

  const cycles: { endMs: number; bytes: number }[] = [];
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    await insertKeptHistory(urls, { lastDay: ENDED_DAY, days: 1, perDay: DELIVERIES });
    const startedMs = performance.now();
    for (const { name, pool } of pools) {
      for (const partitions of DATABASES[name]) await maintainDays(pool, partitions);
    }
    const endMs = Math.round(performance.now() - startedMs);
    let bytes = 0;
    for (const name of NAMES) {
      const size = 'SELECT pg_database_size(current_database())::float8 AS bytes';
      const [row] = await runSql(urls[name], size);
      bytes += Number(row?.bytes);
    }
    const mebibytes = Math.round(bytes / 2 ** 20);
    scale.print(
      `a day of ${DELIVERIES} deliveries ended in ${endMs} ms; ${mebibytes} MiB are left`,
    );
    cycles.push({ endMs, bytes });
  }
  // The first cycles make files and plans.
  const [early, late] = [cycles.slice(2, 5), cycles.slice(-3)];
  for (const figure of ['endMs', 'bytes'] as const) {
    const [first = 0, last = 0] = [early, late].map(
      (some) => summarizeTimes(some.map((cycle) => cycle[figure])).p50,
    );
    // Some milliseconds more are no growth.
    const growth = figure === 'endMs' && last - first < 100 ? 1 : last / first;
    scale.limit(`${figure} of the last cycles by the first`, growth, MAX_GROWTH);
  }
}

await measureScale(measure);
