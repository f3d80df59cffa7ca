/** Reads and writes applications, each with its applicants. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import {
  type Application,
  ApplicationStatus,
  ApplicationType,
  Relationship,
} from '@creditlane/proto/applications/v1/application';
import { ERASED_AT, KEY_OF_APPLICANT } from './applicant-data-keys.ts';
import { type ApplicantSealing, insertApplicant } from './applicants.ts';
import {
  type ApplicantRow,
  type ApplicationRow,
  applicationFromRows,
  type SubmissionRow,
} from './application-row.ts';

const selectApplication = defineStatement<ApplicationRow>(
  'application_find',
  `SELECT id, retailer_id AS "retailerId", type, status, reference_number AS "referenceNumber",
     relationship, created_at AS "createdAt"
   FROM applications WHERE id = $1 AND retailer_id = $2`,
);

const selectApplicants = defineStatement<ApplicantRow>(
  'application_applicants',
  `SELECT applicants.id, applicants.role, applicants.sealed, applicants.key_id AS "keyId",
     applicant_keys.sealed AS "sealedKey",
     ${ERASED_AT} AS "erasedAt"
   FROM applicants JOIN applications ON applications.id = applicants.application_id
     LEFT JOIN applicant_keys ON ${KEY_OF_APPLICANT}
       AND applicant_keys.retailer_id = applications.retailer_id
   WHERE applications.id = $1 AND applications.retailer_id = $2`,
);

const selectSubmissions = defineStatement<SubmissionRow>(
  'application_submissions',
  `SELECT submissions.creditor_id AS "creditorId", submissions.worksheet,
     submissions.submitted_at AS "submittedAt"
   FROM submissions JOIN applications ON applications.id = submissions.application_id
   WHERE applications.id = $1 AND applications.retailer_id = $2
   ORDER BY submissions.submitted_at, submissions.creditor_id`,
);

/**
 * A retailer's application with the applicants' data in the clear. Answers show it masked, by
 * `maskedApplication`; no log may contain it.
 */
export async function findApplication(
  db: Queryable,
  keyRing: KeyRing,
  applicationId: string,
  retailerId: string,
): Promise<Application | undefined> {
  const key = [applicationId, retailerId];
  // Three queries: one join would return every pair of a submission and an applicant.
  const [[row], applicants, submissions] = await runPipeline(db, [
    selectApplication.query(key),
    selectApplicants.query(key),
    selectSubmissions.query(key),
  ]);
  return row && applicationFromRows({ ...row, applicants, submissions }, keyRing);
}

const selectLocation = defineStatement<{ retailerId: string; inContext: boolean | null }>(
  'application_locate',
  `SELECT owner.id AS "retailerId",
     (owner.id = context.id OR owner.retailer_group_id = context.retailer_group_id) AS "inContext"
   FROM applications JOIN retailers AS owner ON owner.id = applications.retailer_id
   LEFT JOIN retailers AS context ON context.id = $2
   WHERE applications.id = $1`,
);

/**
 * The retailer that an application belongs to, and whether the context retailer is that retailer or
 * belongs to the same group; false for null. Undefined when the application does not exist.
 */
export async function locateApplication(
  db: Queryable,
  applicationId: string,
  contextRetailerId: string | null,
): Promise<{ retailerId: string; inContext: boolean } | undefined> {
  const [row] = await selectLocation.run(db, [applicationId, contextRetailerId]);
  return row && { ...row, inContext: row.inContext === true };
}

const insertRow = defineStatement<{ id: string }>(
  'application_insert',
  `INSERT INTO applications
     (id, retailer_id, type, status, reference_number, relationship, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (retailer_id, reference_number) DO NOTHING
   RETURNING id`,
);

const selectByReference = defineStatement<{ id: string }>(
  'application_by_reference',
  'SELECT id FROM applications WHERE retailer_id = $1 AND reference_number = $2',
);

/**
 * Inserts an application with its applicants. Where another application has its reference number,
 * inserts nothing and resolves to that application's id as `takenBy`.
 */
export async function insertApplication(
  tx: Queryable,
  sealing: ApplicantSealing,
  application: Application,
  createdAt: Date,
): Promise<{ takenBy?: string }> {
  const { applicationId, retailerId, referenceNumber, relationship } = application;
  const inserted = await insertRow.run(tx, [
    applicationId,
    retailerId,
    ApplicationType[application.type],
    ApplicationStatus[application.status],
    referenceNumber || null,
    relationship === Relationship.UNSPECIFIED ? null : Relationship[relationship],
    createdAt,
  ]);
  if (inserted.length === 0) {
    const [other] = await selectByReference.run(tx, [retailerId, referenceNumber]);
    if (other === undefined) throw new Error('no application has the reference number');
    return { takenBy: other.id };
  }
  const { primaryApplicant, coApplicant } = application;
  if (primaryApplicant) {
    await insertApplicant(tx, sealing, application, 'PRIMARY', primaryApplicant, createdAt);
  }
  if (coApplicant) await insertApplicant(tx, sealing, application, 'CO', coApplicant, createdAt);
  return {};
}

const lockRow = defineStatement<{ status: string }>(
  'application_lock',
  'SELECT status FROM applications WHERE id = $1 AND retailer_id = $2 FOR UPDATE',
);

/** Locks a retailer's application until `tx` ends; undefined where the retailer has no such application. */
export async function lockApplication(
  tx: Queryable,
  applicationId: string,
  retailerId: string,
): Promise<{ archived: boolean } | undefined> {
  const [row] = await lockRow.run(tx, [applicationId, retailerId]);
  return row && { archived: row.status === ApplicationStatus[ApplicationStatus.ARCHIVED] };
}

const updateStatus = defineStatement(
  'application_set_status',
  'UPDATE applications SET status = $2 WHERE id = $1',
);

/** Sets the status of an application that `tx` has locked. */
export async function setApplicationStatus(
  tx: Queryable,
  applicationId: string,
  status: ApplicationStatus,
): Promise<void> {
  await updateStatus.run(tx, [applicationId, ApplicationStatus[status]]);
}
