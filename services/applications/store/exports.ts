/** Writes and reads exports, and deletes the payloads of old ones and of those of erased applicants. */
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { ExportedApplication } from '../events.ts';

interface NewExport extends ExportedApplication {
  /** The integration that asked for the export. */
  exportedBy: string;
  sealed: Buffer;
  /** Null where data keys of applicants seal it. */
  sealedWith: string | null;
}

/** The sealed payload of an export. */
export interface SealedExport {
  sealed: Buffer;
  sealedWith: string | null;
  applicationId: string;
  retailerId: string;
}

const insertRow = defineStatement(
  'export_insert',
  `INSERT INTO exports (id, application_id, creditor_id, integration_id, exported_by_integration_id,
     sealed, sealed_with, exported_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export async function insertExport(tx: Queryable, row: NewExport): Promise<void> {
  const { exportId, applicationId, creditorId, integrationId, exportedBy, exportedAt } = row;
  const ids = [exportId, applicationId, creditorId, integrationId, exportedBy];
  await insertRow.run(tx, [...ids, row.sealed, row.sealedWith, exportedAt]);
}

const selectRow = defineStatement<SealedExport>(
  'export_find',
  `SELECT exports.sealed, exports.sealed_with AS "sealedWith",
     exports.application_id AS "applicationId", applications.retailer_id AS "retailerId"
   FROM exports JOIN applications ON applications.id = exports.application_id
   WHERE exports.id = $1 AND exports.sealed IS NOT NULL`,
);

/** The sealed payload of an export; undefined once it was deleted. */
export async function findExport(
  db: Queryable,
  exportId: string,
): Promise<SealedExport | undefined> {
  const [row] = await selectRow.run(db, [exportId]);
  return row;
}

/**
 * Deletes the payloads of old exports. The rows stay: they tell who exported which application to whom, and when.
 * The dispatcher keeps a delivery for 30 days after its last attempt, which comes 75 hours after the first, or
 * 11 days after it when the receiver asks for a day before each; until then the delivery can be replayed.
 */
export const purgeExports = definePurge(
  'exports_purge',
  `UPDATE exports SET sealed = NULL, sealed_with = NULL WHERE id IN (
     SELECT id FROM exports
     WHERE sealed IS NOT NULL AND exported_at < now() - interval '45 days'
     LIMIT ${PURGE_BATCH_ROWS})`,
);

const deletePayloads = defineStatement(
  'exports_delete_payloads',
  `UPDATE exports SET sealed = NULL, sealed_with = NULL
   WHERE application_id = $1 AND sealed IS NOT NULL`,
);

/** Deletes the payloads of an application's exports. The rows stay. */
export async function deletePayloadsOf(tx: Queryable, applicationId: string): Promise<void> {
  await deletePayloads.run(tx, [applicationId]);
}
