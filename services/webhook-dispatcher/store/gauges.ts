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

// In two parts, as above. A leased delivery is due again at the end of its lease, and what a pause has held since the end of the
// pause. What waits for a rate is due since the destination had all of its permits again, so that it counts only while nobody takes
// permits. The recursive part visits one destination after another through the index, as the claim does: 100,000 deliveries that a
// pause holds are one entry of the index, where reading them took 80 ms.
export const longestDueS = defineNumber(
  'measure_longest_due',
  `WITH RECURSIVE destination (id) AS (
     (SELECT destination_id FROM deliveries
      WHERE storage <> 'ended' AND state = 'due' AND NOT leased
      ORDER BY destination_id LIMIT 1)
     UNION ALL
     SELECT (SELECT destination_id FROM deliveries
             WHERE storage <> 'ended' AND state = 'due' AND NOT leased
               AND destination_id > destination.id
             ORDER BY destination_id LIMIT 1)
     FROM destination WHERE destination.id IS NOT NULL
   )
   SELECT greatest(0, extract(epoch FROM now() - least(
     (SELECT min(next_attempt_at) FROM deliveries
       WHERE storage <> 'ended' AND state = 'due' AND leased),
     (SELECT min(greatest(first.next_attempt_at, b.paused_until, r.full_at))
       FROM destination CROSS JOIN LATERAL (
         SELECT d.next_attempt_at FROM deliveries AS d
         WHERE d.storage <> 'ended' AND d.state = 'due' AND NOT d.leased
           AND d.destination_id = destination.id
         ORDER BY d.next_attempt_at LIMIT 1
       ) AS first
       LEFT JOIN open_breakers AS b ON b.destination_id = destination.id
       LEFT JOIN destination_rates AS r ON r.destination_id = destination.id
       WHERE coalesce(b.paused_until <= now(), true)
         AND (SELECT s.disabled_at FROM destination_states AS s
           WHERE s.destination_id = destination.id) IS NULL)
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
