import { sealedKeys } from '@creditlane/crypto/applicant-keys';
import { defineSealedField } from '@creditlane/crypto/sealed-column';
import type { Database } from '@creditlane/postgres/database';

/** Credentials are bound to their bureau and retailer. */
export const sealedCredentials = defineSealedField({
  table: 'bureau_credentials',
  column: 'sealed',
  primaryKey: { retailer_id: 'uuid', source: 'text' },
  tenantSql: 'retailer_id',
});

export const sealedHeads = defineSealedField({
  table: 'audit_heads',
  column: 'sealed',
  primaryKey: { retailer_id: 'uuid' },
  tenantSql: 'retailer_id',
});

/**
 * The tables with sealed columns, for a rotation of the key ring. Files are none of them: the applicants' keys seal
 * them.
 */
export function sealedTables(pool: Database['pool']) {
  return [sealedKeys, sealedCredentials, sealedHeads].map((field) => field.column(pool));
}
