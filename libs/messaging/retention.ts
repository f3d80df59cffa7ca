/** How long published and received events are kept. */
import { definePurge, deleteOlderThanSql, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';

/** Published events are kept for a week, to be published again if the broker loses its data. */
export const purgeOutbox = definePurge(
  'outbox_purge',
  // By the primary key, since no index covers published_at: rows are published roughly in id order.
  `DELETE FROM outbox WHERE published_at < now() - interval '7 days'
     AND id IN (SELECT id FROM outbox ORDER BY id LIMIT ${PURGE_BATCH_ROWS})`,
);

/** Longer than any topic keeps its messages, so that no redelivered message is taken for a new one. */
export const purgeInbox = definePurge(
  'inbox_purge',
  deleteOlderThanSql('inbox', 'received_at', '30 days'),
);
