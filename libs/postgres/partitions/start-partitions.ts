/** Keeps the partitions of a service's tables while the service runs. */
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import { countDaysAhead, type DayPartitions, maintainDays } from './day-partitions.ts';
import { dropEarlierTable, type EarlierTable } from './earlier-tables.ts';

const EVERY_MS = 60_000;

export interface PartitionsOptions {
  readonly pool: pg.Pool;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The name of the service, a label of the metric. */
  readonly service: string;
  readonly tables: readonly DayPartitions[];
  readonly earlier?: readonly EarlierTable[];
}

/** Makes and drops partitions every minute until closed. Of several processes, one at a time changes a table. */
export function startPartitions(options: PartitionsOptions): PeriodicTask {
  const { pool, log, tables, earlier = [] } = options;
  measureDaysAhead(options);
  const attempt = (table: string, work: Promise<void>) =>
    work.catch((err) =>
      log.warn(
        { err, table },
        'partitions were not made or dropped; the next attempt is in a minute',
      ),
    );
  return startPeriodicTask(EVERY_MS, async () => {
    for (const partitions of tables)
      await attempt(partitions.table, maintainDays(pool, partitions));
    for (const table of earlier) await attempt(table.name, dropEarlierTable(pool, table));
  });
}

function measureDaysAhead({ pool, metrics, service, tables }: PartitionsOptions): void {
  const help = 'Days after today whose partition of the table is made.';
  metrics.gauge('table_partition_days_ahead', help, ['service', 'table'], async (gauge) => {
    for (const partitions of tables) {
      const { table } = partitions;
      gauge.set({ service, table }, await countDaysAhead(pool, partitions));
    }
  });
}
