/** Deletes the credit files that are no longer to be kept, and counts those that are due. */

import type { ApplicantOfRetailer } from '@creditlane/crypto/applicant-keys';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

const deleteRowsOf = defineStatement<{ id: string }>(
  'credit_files_delete_of_applicant',
  'DELETE FROM credit_files WHERE applicant_id = $1 AND retailer_id = $2 RETURNING id',
);

/** Deletes the files of an applicant, and resolves to their number. */
export async function deleteFilesOf(
  tx: Queryable,
  { applicantId, retailerId }: ApplicantOfRetailer,
): Promise<number> {
  return (await deleteRowsOf.run(tx, [applicantId, retailerId])).length;
}

/** A file that was deleted. */
export interface DeletedFile {
  fileId: string;
  pullId: string;
  applicantId: string;
  retailerId: string;
  source: string;
}

const selectDueRetailers = defineStatement<{ retailerId: string }>(
  'credit_files_due_retailers',
  `SELECT retailer_id AS "retailerId" FROM credit_files WHERE created_at < $1
   GROUP BY retailer_id ORDER BY min(created_at)`,
);

/** The retailers with files that were stored before `before`, the one with the oldest first. */
export async function findDueRetailers(db: Queryable, before: Date): Promise<string[]> {
  return (await selectDueRetailers.run(db, [before])).map(({ retailerId }) => retailerId);
}

// SKIP LOCKED: another process deletes the row.
const deleteOldRows = defineStatement<DeletedFile>(
  'credit_files_delete_old',
  `DELETE FROM credit_files WHERE id IN (
     SELECT id FROM credit_files
     WHERE retailer_id = $1 AND created_at < $2
     ORDER BY created_at LIMIT $3
     FOR UPDATE SKIP LOCKED)
   RETURNING id AS "fileId", pull_id AS "pullId", applicant_id AS "applicantId",
     retailer_id AS "retailerId", source`,
);

/** Deletes up to `limit` files of the retailer that were stored before `before`, the oldest ones. */
export function deleteFilesBefore(
  tx: Queryable,
  retailerId: string,
  before: Date,
  limit: number,
): Promise<DeletedFile[]> {
  return deleteOldRows.run(tx, [retailerId, before, limit]);
}

/** How many files of a retailer and source are due. */
export interface DueFiles {
  retailerId: string;
  source: string;
  files: number;
  oldest: Date;
}

const countOldRows = defineStatement<DueFiles>(
  'credit_files_count_old',
  `SELECT retailer_id AS "retailerId", source, count(*) AS files, min(created_at) AS oldest
   FROM credit_files WHERE created_at < $1 GROUP BY retailer_id, source ORDER BY retailer_id, source`,
);

/** Counts the files that were stored before `before`. */
export function countFilesBefore(db: Queryable, before: Date): Promise<DueFiles[]> {
  return countOldRows.run(db, [before]);
}
