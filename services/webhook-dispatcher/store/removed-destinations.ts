/** The SQL of removed destinations: which destinations to check, and the end of what is left of removed ones. */
import {
  defineStatement,
  mapQueryResult,
  type Query,
  type Queryable,
} from '@creditlane/postgres/statement';

// The recursive part visits one destination after another through the index, as the claim does.
const selectDestinations = defineStatement<{ id: string }>(
  'destinations_to_check',
  `WITH RECURSIVE destination (id) AS (
     (SELECT destination_id FROM deliveries
      WHERE state = 'due' AND destination_id > $1 ORDER BY destination_id LIMIT 1)
     UNION ALL
     SELECT (SELECT destination_id FROM deliveries
             WHERE state = 'due' AND destination_id > destination.id
             ORDER BY destination_id LIMIT 1)
     FROM destination WHERE destination.id IS NOT NULL
   )
   SELECT id FROM (
     (SELECT id FROM destination WHERE id IS NOT NULL LIMIT $2)
     UNION
     (SELECT destination_id FROM destination_states
      WHERE disabled_at IS NOT NULL AND destination_id > $1 ORDER BY destination_id LIMIT $2)
   ) AS either ORDER BY id LIMIT $2`,
);

/** The destinations after `after`, in the order of their ids, that are disabled or have pending deliveries. */
export async function findDestinationsToCheck(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await selectDestinations.run(db, [after, limit]);
  return rows.map(({ id }) => id);
}

// The rows are locked in the order of the results transaction, so that the two cannot deadlock. The lock
// also waits until transactions that insert deliveries behind a locked one have ended.
const lockPending = defineStatement(
  'removed_lock_pending',
  `SELECT FROM deliveries
   WHERE destination_id = ANY ($1::uuid[]) AND state IN ('waiting', 'due')
   ORDER BY application_id, destination_id, position FOR UPDATE`,
);

/** Must run before `endPendingOfRemovedQuery`, in the same transaction. */
export function lockPendingOfRemovedQuery(destinationIds: readonly string[]): Query<unknown> {
  return lockPending.query([destinationIds]);
}

const endPending = defineStatement<{ count: number }>(
  'removed_end_pending',
  `WITH ended AS (
     UPDATE deliveries
     SET state = 'dead', reason = 'destination_removed', leased = false, settled_at = now()
     WHERE destination_id = ANY ($1::uuid[]) AND state IN ('waiting', 'due') RETURNING 1
   )
   SELECT count(*) FROM ended`,
);

/**
 * Makes the pending deliveries of removed destinations dead, and returns their number. If a request that
 * is under way succeeds, its delivery still becomes delivered.
 */
export function endPendingOfRemovedQuery(destinationIds: readonly string[]): Query<number> {
  return mapQueryResult(endPending.query([destinationIds]), ([row]) => row?.count ?? 0);
}

const deleteStates = defineStatement(
  'removed_delete_states',
  'DELETE FROM destination_states WHERE destination_id = ANY ($1::uuid[])',
);

export function deleteStatesOfRemovedQuery(destinationIds: readonly string[]): Query<unknown> {
  return deleteStates.query([destinationIds]);
}
