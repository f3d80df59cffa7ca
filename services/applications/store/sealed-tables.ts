/** The tables with fields that a key of the ring wraps: data keys, and what a version without them has sealed. */
import { sealedKeys } from '@creditlane/crypto/applicant-keys';
import type { SealContext } from '@creditlane/crypto/envelope';
import { SealedColumn } from '@creditlane/crypto/sealed-column';
import type { Database } from '@creditlane/postgres/database';
import { applicantContext } from '../applicant/sealed-applicant.ts';
import { exportContext } from '../export/sealed-payload.ts';

export function sealedTables(pool: Database['pool']) {
  return [
    sealedKeys(pool),
    sealedRows(pool, 'applicants', applicantContext),
    sealedRows(pool, 'exports', exportContext),
  ];
}

/** Rows of an application, which has the retailer. */
function sealedRows(
  pool: Database['pool'],
  table: string,
  contextOf: (id: string, retailerId: string) => SealContext,
) {
  return new SealedColumn(pool, {
    table,
    column: 'sealed',
    primaryKey: { id: 'uuid' },
    tenantSql: `(SELECT retailer_id FROM applications AS a WHERE a.id = ${table}.application_id)`,
    contextOf: ({ id }, retailerId) => contextOf(id, retailerId),
  });
}
