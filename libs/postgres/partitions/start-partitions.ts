/** Keeps the partitions of a service's tables while the service runs. */
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import { countDaysAhead, type DayPartitions, keepDays } from './day-partitions.ts';

const EVERY_MS = 60_000;

export interface PartitionsOptions {
  readonly pool: pg.Pool;
  readonly log: Log;
  readonly metrics: Metrics;
  /** The name of the service, a label of the metric. */
  readonly service: string;
  readonly tables: readonly DayPartitions[];
}

/** Makes and drops partitions every minute until closed. Of several processes, one at a time changes a table. */
export function startPartitions(options: PartitionsOptions): PeriodicTask {
  const { pool, log, tables } = options;
  measureDaysAhead(options);
  return startPeriodicTask(EVERY_MS, async () => {
    for (const partitions of tables) {
      await keepDays(pool, partitions).catch((err) =>
        log.warn(
          { err, table: partitions.table },
          'partitions of days were not made or dropped; the next attempt is in a minute',
        ),
      );
    }
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
