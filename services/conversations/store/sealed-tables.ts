/** The table with a sealed column. */
import { defineSealedField } from '@creditlane/crypto/sealed-column';
import type { Database } from '@creditlane/postgres/database';

export const sealedComments = defineSealedField({
  table: 'comments',
  column: 'sealed',
  primaryKey: { id: 'uuid' },
  tenantSql: `(SELECT retailer_id FROM conversations AS c WHERE c.application_id = comments.application_id
      AND c.creditor_id = comments.creditor_id)`,
});

/** The sealed columns, for a rotation of the key ring. */
export function sealedTables(pool: Database['pool']) {
  return [sealedComments.column(pool)];
}
