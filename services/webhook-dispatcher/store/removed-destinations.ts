/** The SQL of removed destinations: which destinations to check, and the end of their states. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

// The recursive part visits one destination after another through the index, as the claim does.
const selectDestinations = defineStatement<{ id: string }>(
  'destinations_to_check',
  `WITH RECURSIVE destination (id) AS (
     (SELECT destination_id FROM deliveries
      WHERE storage <> 'ended' AND state = 'due' AND destination_id > $1 ORDER BY destination_id LIMIT 1)
     UNION ALL
     SELECT (SELECT destination_id FROM deliveries
             WHERE storage <> 'ended' AND state = 'due' AND destination_id > destination.id
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

const deleteStates = defineStatement(
  'removed_delete_states',
  'DELETE FROM destination_states WHERE destination_id = ANY ($1::uuid[])',
);

export async function deleteStatesOfRemoved(
  db: Queryable,
  destinationIds: readonly string[],
): Promise<void> {
  await deleteStates.run(db, [destinationIds]);
}
