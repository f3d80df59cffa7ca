/** Finds and replaces what a version without data keys of applicants has sealed. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

export interface SealedInRow {
  id: string;
  applicationId: string;
  retailerId: string;
  sealed: Buffer;
  /** When the applicant was erased, or the key destroyed; null for any other row. */
  erasedAt: Date | null;
}

// The ORDER BY makes PostgreSQL read the index of `sealed_with`.
const selectRows = {
  applicants: defineStatement<SealedInRow>(
    'applicants_sealed_in_rows',
    `SELECT applicants.id, applications.id AS "applicationId", applications.retailer_id AS "retailerId",
       applicants.sealed, coalesce(applicants.erased_at, (
         SELECT destroyed_at FROM applicant_keys
         WHERE applicant_id = applicants.id AND retailer_id = applications.retailer_id)) AS "erasedAt"
     FROM applicants JOIN applications ON applications.id = applicants.application_id
     WHERE applicants.sealed_with > ''
     ORDER BY applicants.sealed_with LIMIT $1 OFFSET $2
     FOR NO KEY UPDATE OF applicants SKIP LOCKED`,
  ),
  exports: defineStatement<SealedInRow>(
    'exports_sealed_in_rows',
    `SELECT exports.id, applications.id AS "applicationId", applications.retailer_id AS "retailerId",
       exports.sealed, NULL AS "erasedAt"
     FROM exports JOIN applications ON applications.id = exports.application_id
     WHERE exports.sealed_with > ''
     ORDER BY exports.sealed_with LIMIT $1 OFFSET $2
     FOR NO KEY UPDATE OF exports SKIP LOCKED`,
  ),
};

/** Locks up to `limit` rows that nobody has locked, after the first `offset` of them. */
export function lockSealedInRows(
  tx: Queryable,
  table: keyof typeof selectRows,
  limit: number,
  offset: number,
): Promise<SealedInRow[]> {
  return selectRows[table].run(tx, [limit, offset]);
}

const countRows = {
  applicants: defineStatement<{ count: number }>(
    'applicants_count_sealed_in_rows',
    `SELECT count(*)::integer AS count
     FROM (SELECT FROM applicants WHERE sealed_with > '' LIMIT $1) AS sealed_in_rows`,
  ),
  exports: defineStatement<{ count: number }>(
    'exports_count_sealed_in_rows',
    `SELECT count(*)::integer AS count
     FROM (SELECT FROM exports WHERE sealed_with > '' LIMIT $1) AS sealed_in_rows`,
  ),
};

/** How many rows data keys do not seal yet, those that are locked included; at most `limit`. */
export async function countSealedInRows(
  db: Queryable,
  table: keyof typeof countRows,
  limit: number,
): Promise<number> {
  const [row] = await countRows[table].run(db, [limit]);
  return row?.count ?? 0;
}

const updateApplicant = defineStatement(
  'applicant_set_sealed',
  `UPDATE applicants SET key_id = $2, sealed = $3, sealed_with = '' WHERE id = $1`,
);

/** Replaces what is sealed of an applicant whose row `tx` has locked. */
export async function setApplicantSealed(
  tx: Queryable,
  id: string,
  keyId: string,
  sealed: Buffer,
): Promise<void> {
  await updateApplicant.run(tx, [id, keyId, sealed]);
}

const eraseApplicant = defineStatement(
  'applicant_set_erased',
  `UPDATE applicants SET erased_at = $2, key_id = NULL, sealed = '', sealed_with = '' WHERE id = $1`,
);

/** Deletes what is sealed of an erased applicant whose row `tx` has locked. */
export async function setApplicantErased(tx: Queryable, id: string, at: Date): Promise<void> {
  await eraseApplicant.run(tx, [id, at]);
}

const updateExport = defineStatement(
  'export_set_sealed',
  'UPDATE exports SET sealed = $2, sealed_with = NULL WHERE id = $1',
);

/** Replaces the payload of an export whose row `tx` has locked; null deletes it. */
export async function setExportSealed(
  tx: Queryable,
  id: string,
  sealed: Buffer | null,
): Promise<void> {
  await updateExport.run(tx, [id, sealed]);
}
