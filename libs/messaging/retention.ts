/** How long published events are kept. */
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';

/** Published events are kept for a week, to be published again if the broker loses its data. */
export const purgeOutbox = definePurge(
  'outbox_purge',
  // No index covers published_at. Rows are published roughly in the order of their ids, so the oldest
  // ids are the rows to delete.
  `DELETE FROM outbox WHERE published_at < now() - interval '7 days'
     AND id IN (SELECT id FROM outbox ORDER BY id LIMIT ${PURGE_BATCH_ROWS})`,
);
