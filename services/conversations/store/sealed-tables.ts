/** The table with a sealed column, for a rotation of the key ring. */
import { SealedColumn } from '@creditlane/crypto/sealed-column';
import type { Database } from '@creditlane/postgres/database';
import { commentContext } from '../sealed-comment.ts';

export function sealedTables(pool: Database['pool']) {
  const comments = new SealedColumn(pool, {
    table: 'comments',
    column: 'sealed',
    primaryKey: { id: 'uuid' },
    tenantSql: `(SELECT retailer_id FROM conversations AS c WHERE c.application_id = comments.application_id
      AND c.creditor_id = comments.creditor_id)`,
    contextOf: ({ id }, retailerId) => commentContext(id, retailerId),
  });
  return [comments];
}
