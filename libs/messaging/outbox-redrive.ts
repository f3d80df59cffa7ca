/** Publishing again what was published: for when the broker has lost it. */

import { defineStatement } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type pg from 'pg';

// Whoever is publishing just now marks under its old fence, and so marks nothing that we set free.
const raiseFences = defineStatement(
  'outbox_redrive_fences',
  'UPDATE outbox_lease SET fence = fence + 1',
);

const setFree = defineStatement<{ count: number }>(
  'outbox_redrive',
  `WITH freed AS (
     UPDATE outbox SET published_at = NULL WHERE published_at >= $1 RETURNING id
   )
   SELECT count(*) AS count FROM freed`,
);

/**
 * Has every event that was published since then published once more, as the same event, and before
 * whatever is still to be published after it. Resolves to how many there are. All of them or none:
 * a relay that saw only some would publish later events of a key before earlier ones.
 */
export function redriveOutbox(pool: pg.Pool, since: Date): Promise<number> {
  return inTransaction(pool, async (tx) => {
    await raiseFences.run(tx);
    const [freed] = await setFree.run(tx, [since]);
    return freed?.count ?? 0;
  });
}
