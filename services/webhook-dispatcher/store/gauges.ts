/** The SQL of the gauges that are read from the database: numbers of rows, and the age of the oldest. */
import { defineStatement } from '@creditlane/postgres/statement';

// Each state has a partial index of its own, and the due deliveries have two, by whether they are leased: nothing else
// is read.
export const countBacklog = defineStatement<{ state: string; count: number }>(
  'measure_backlog',
  `SELECT 'waiting' AS state, count(*) FROM deliveries
     WHERE storage <> 'ended' AND state = 'waiting'
   UNION ALL SELECT 'due',
     (SELECT count(*) FROM deliveries WHERE storage <> 'ended' AND state = 'due' AND leased)
     + (SELECT count(*) FROM deliveries WHERE storage <> 'ended' AND state = 'due' AND NOT leased)
   UNION ALL SELECT 'dead', count(*) FROM deliveries WHERE state = 'dead'`,
);

// A replayed delivery is pending since its replay. One that waits is left out: the delivery that it waits for
// is due. So the first statement reads the index from its beginning.
export const findOldestUndelivered = defineStatement<{ age_s: number | null }>(
  'measure_oldest',
  `SELECT extract(epoch FROM now() - least(
     (SELECT min(created_at) FROM deliveries
       WHERE storage <> 'ended' AND state = 'waiting' AND replayed_at IS NULL),
     (SELECT min(coalesce(replayed_at, created_at)) FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND leased),
     (SELECT min(coalesce(replayed_at, created_at)) FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND NOT leased)
   ))::float8 AS age_s`,
);

export const countDisabledDestinations = defineStatement<{ count: number }>(
  'measure_disabled_destinations',
  'SELECT count(*) FROM destination_states WHERE disabled_at IS NOT NULL',
);

export const countUnfinishedReplays = defineStatement<{ count: number }>(
  'measure_unfinished_replays',
  'SELECT count(*) FROM replay_jobs WHERE finished_at IS NULL',
);
