/** The sealed columns: data keys, and what an applicant's data key or, by a version without them, the key ring has sealed. */
import { sealedKeys } from '@creditlane/crypto/applicant-keys';
import { defineSealedField } from '@creditlane/crypto/sealed-column';
import type { Database } from '@creditlane/postgres/database';

/** Rows of an application, which has the retailer. */
const sealedRows = (table: string) =>
  defineSealedField({
    table,
    column: 'sealed',
    primaryKey: { id: 'uuid' },
    tenantSql: `(SELECT retailer_id FROM applications AS a WHERE a.id = ${table}.application_id)`,
  });

export const sealedApplicants = sealedRows('applicants');
export const sealedExports = sealedRows('exports');

/** The fields that a key of the ring wraps, for a rotation of the key ring. */
export function sealedTables(pool: Database['pool']) {
  return [sealedKeys, sealedApplicants, sealedExports].map((field) => field.column(pool));
}
