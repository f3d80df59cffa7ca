/** The SQL of stored credit files. */
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
