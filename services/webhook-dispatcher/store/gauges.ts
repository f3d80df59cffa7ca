/** The SQL of the gauges that are read from the database: numbers of rows, and the age of the oldest. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** Returns the function that reads the one `value` of a statement, and 0 in the place of NULL. */
function defineNumber(name: string, text: string): (db: Queryable) => Promise<number> {
  const statement = defineStatement<{ value: number | null }>(name, text);
  return async (db) => {
    const [row] = await statement.run(db);
    return row?.value ?? 0;
  };
}

// Each state has a partial index of its own, and the due deliveries have two, by whether they are leased: nothing else
// is read.
const countStates = defineStatement<{ state: string; count: number }>(
  'measure_backlog',
  `SELECT 'waiting' AS state, count(*) FROM deliveries
     WHERE storage <> 'ended' AND state = 'waiting'
   UNION ALL SELECT 'due',
     (SELECT count(*) FROM deliveries WHERE storage <> 'ended' AND state = 'due' AND leased)
     + (SELECT count(*) FROM deliveries WHERE storage <> 'ended' AND state = 'due' AND NOT leased)
   UNION ALL SELECT 'dead', count(*) FROM (SELECT FROM deliveries WHERE state = 'dead' LIMIT $1) AS dead`,
);

/** The number of deliveries in each state that matters to an operator; of dead ones, `maxDead` are counted at most. */
export function countBacklog(
  db: Queryable,
  maxDead: number,
): Promise<{ state: string; count: number }[]> {
  return countStates.run(db, [maxDead]);
}

// A replayed delivery is pending since its replay. A replayed one that waits is left out, because the delivery that it waits
// for is due: so the first subquery reads one entry of its index.
export const ageOfOldestUndeliveredS = defineNumber(
  'measure_oldest',
  `SELECT extract(epoch FROM now() - least(
     (SELECT min(created_at) FROM deliveries
       WHERE storage <> 'ended' AND state = 'waiting' AND replayed_at IS NULL),
     (SELECT min(coalesce(replayed_at, created_at)) FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND leased),
     (SELECT min(coalesce(replayed_at, created_at)) FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND NOT leased)
   ))::float8 AS value`,
);

// In two parts, as above. A leased delivery is due again at the end of its lease. What a pause has held is left out while the
// pause lasts, and for an hour after it, in which it is sent.
export const longestDueS = defineNumber(
  'measure_longest_due',
  `SELECT greatest(0, extract(epoch FROM now() - least(
     (SELECT min(next_attempt_at) FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND leased),
     (SELECT min(d.next_attempt_at) FROM deliveries AS d
       WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased AND NOT EXISTS (
         SELECT FROM destination_states AS s
         WHERE s.destination_id = d.destination_id AND s.disabled_at IS NOT NULL)
       AND NOT EXISTS (
         SELECT FROM open_breakers AS b
         WHERE b.destination_id = d.destination_id AND b.paused_until > now() - interval '1 hour'))
   )))::float8 AS value`,
);

export const countDisabledDestinations = defineNumber(
  'measure_disabled_destinations',
  'SELECT count(*) AS value FROM destination_states WHERE disabled_at IS NOT NULL',
);

export const countUnfinishedReplayJobs = defineNumber(
  'measure_unfinished_replays',
  'SELECT count(*) AS value FROM replay_jobs WHERE finished_at IS NULL',
);
