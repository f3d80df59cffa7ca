/** The SQL of stored credit files: inserts, finds, deletes and counts them. */
import type { ApplicantOfRetailer } from '@creditlane/crypto/applicant-keys';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Source } from '../bureaus/bureau.ts';

/** A stored file; `sealed` is its encrypted JSON text. */
export interface CreditFileRow {
  id: string;
  pullId: string;
  retailerId: string;
  applicantId: string;
  source: Source;
  hitType: string;
  /** yyyy-MM-dd. */
  requestedDate: string;
  sealed: Buffer;
}

const COLUMNS = `credit_files.id, credit_files.pull_id AS "pullId",
     credit_files.retailer_id AS "retailerId", credit_files.applicant_id AS "applicantId",
     credit_files.source, credit_files.sealed, pulls.key_id AS "keyId",
     pulls.application_id AS "applicationId", pulls.consent ->> 'purpose' AS purpose,
     pulls.consent ->> 'consentId' AS "consentId"`;

/** A file with the data key that seals it, and the application and the consent of its pull. */
export type StoredFile = Omit<CreditFileRow, 'hitType' | 'requestedDate'> & {
  keyId: string;
  applicationId: string;
  purpose: string;
  consentId: string;
};

const insertRow = defineStatement(
  'credit_file_insert',
  `INSERT INTO credit_files (id, pull_id, retailer_id, applicant_id, source, hit_type, requested_date,
     sealed, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())`,
);

export async function insertCreditFile(tx: Queryable, file: CreditFileRow): Promise<void> {
  const { id, pullId, retailerId, applicantId, source, hitType, requestedDate, sealed } = file;
  const values = [id, pullId, retailerId, applicantId, source, hitType, requestedDate, sealed];
  await insertRow.run(tx, values);
}

const selectLatest = defineStatement<StoredFile>(
  'credit_file_latest',
  `SELECT ${COLUMNS} FROM credit_files JOIN pulls ON pulls.id = credit_files.pull_id
   WHERE credit_files.applicant_id = $1 AND credit_files.retailer_id = $2
   ORDER BY pulls.last_request DESC LIMIT 1`,
);

/** The file of the applicant's last requested complete pull, of either source. */
export async function findLatestFile(
  db: Queryable,
  applicantId: string,
  retailerId: string,
): Promise<StoredFile | undefined> {
  const [row] = await selectLatest.run(db, [applicantId, retailerId]);
  return row;
}

const selectFile = defineStatement<StoredFile>(
  'credit_file_find',
  `SELECT ${COLUMNS} FROM credit_files JOIN pulls ON pulls.id = credit_files.pull_id
   WHERE credit_files.id = $1`,
);

export async function findFile(db: Queryable, id: string): Promise<StoredFile | undefined> {
  const [row] = await selectFile.run(db, [id]);
  return row;
}

const selectRetailer = defineStatement<{ retailerId: string }>(
  'credit_file_retailer',
  'SELECT retailer_id AS "retailerId" FROM credit_files WHERE id = $1',
);

export async function findRetailerOfFile(db: Queryable, id: string): Promise<string | undefined> {
  const [row] = await selectRetailer.run(db, [id]);
  return row?.retailerId;
}

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
