/** Reads and writes submissions. */
import { toJson } from '@bufbuild/protobuf';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import {
  ApplicationStatus,
  type Worksheet,
  WorksheetSchema,
} from '@creditlane/proto/applications/v1/application';
import type { Retailer, RetailerUser } from '../directory/user.ts';
import type { SubmissionFacts } from '../submit/submission.ts';
import { ERASED_AT, KEY_OF_APPLICANT } from './applicant-data-keys.ts';
import { enumValue, worksheetFromJson } from './application-row.ts';
import { setApplicationStatus } from './applications.ts';
import { RETAILER_USER } from './users.ts';

/** A submission as the decisions service reads it. */
export interface SubmissionRecord {
  retailerId: string;
  worksheet: Worksheet;
  submittedAt: Date;
}

const selectSubmission = defineStatement<
  Omit<SubmissionRecord, 'worksheet'> & { worksheet: object }
>(
  'submission_find',
  `SELECT applications.retailer_id AS "retailerId", submissions.worksheet,
     submissions.submitted_at AS "submittedAt"
   FROM submissions JOIN applications ON applications.id = submissions.application_id
   WHERE submissions.application_id = $1 AND submissions.creditor_id = $2`,
);

export async function findSubmission(
  db: Queryable,
  applicationId: string,
  creditorId: string,
): Promise<SubmissionRecord | undefined> {
  const [row] = await selectSubmission.run(db, [applicationId, creditorId]);
  return row && { ...row, worksheet: worksheetFromJson(row.worksheet) };
}

/** What decides whether a comment on a submission is accepted. */
export interface SubmissionState {
  retailer: Retailer;
  status: ApplicationStatus;
  /** Whether the application was submitted to the creditor. */
  submitted: boolean;
  /** The user who comments; undefined when there is no such user. */
  user: (RetailerUser & { firstName: string; lastName: string }) | undefined;
}

const selectState = defineStatement<{
  retailerId: string;
  retailerGroupId: string | null;
  status: string;
  submitted: boolean;
  commenter: NonNullable<SubmissionState['user']> | null;
}>(
  'submission_state',
  `SELECT retailers.id AS "retailerId", retailers.retailer_group_id AS "retailerGroupId",
     applications.status,
     EXISTS (SELECT FROM submissions WHERE application_id = $1 AND creditor_id = $2) AS submitted,
     (SELECT jsonb_build_object(${RETAILER_USER}, 'firstName', first_name, 'lastName', last_name)
      FROM users WHERE id = $3) AS commenter
   FROM applications JOIN retailers ON retailers.id = applications.retailer_id
   WHERE applications.id = $1`,
);

/** The state of a submission, or of an application not submitted; undefined without the application. */
export async function findSubmissionState(
  db: Queryable,
  applicationId: string,
  creditorId: string,
  userId: string | null,
): Promise<SubmissionState | undefined> {
  const [row] = await selectState.run(db, [applicationId, creditorId, userId]);
  return (
    row && {
      retailer: { id: row.retailerId, retailerGroupId: row.retailerGroupId },
      status: enumValue(ApplicationStatus, row.status),
      submitted: row.submitted,
      user: row.commenter ?? undefined,
    }
  );
}

const selectFacts = defineStatement<{
  retailerId: string;
  retailerGroupId: string | null;
  applicantIds: string[];
  hasErasedApplicant: boolean;
  submitter: RetailerUser | null;
  knownCreditorIds: string[];
  submittedCreditorIds: string[];
}>(
  'submission_facts',
  `SELECT retailers.id AS "retailerId", retailers.retailer_group_id AS "retailerGroupId",
     ARRAY(SELECT id FROM applicants WHERE application_id = $1) AS "applicantIds",
     EXISTS (
       SELECT FROM applicants LEFT JOIN applicant_keys ON ${KEY_OF_APPLICANT}
         AND applicant_keys.retailer_id = applications.retailer_id
       WHERE applicants.application_id = $1 AND ${ERASED_AT} IS NOT NULL
     ) AS "hasErasedApplicant",
     (SELECT jsonb_build_object(${RETAILER_USER}) FROM users WHERE id = $2) AS submitter,
     ARRAY(SELECT id FROM creditors WHERE id = ANY ($3::uuid[])) AS "knownCreditorIds",
     ARRAY(SELECT creditor_id FROM submissions WHERE application_id = $1)
       AS "submittedCreditorIds"
   FROM applications JOIN retailers ON retailers.id = applications.retailer_id
   WHERE applications.id = $1`,
);

/** The facts that the rules for a submission of a locked application need. */
export async function readSubmissionFacts(
  tx: Queryable,
  applicationId: string,
  userId: string,
  creditorIds: readonly string[],
): Promise<Omit<SubmissionFacts, 'archived'>> {
  const [row] = await selectFacts.run(tx, [applicationId, userId, creditorIds]);
  if (!row) throw new Error('a locked application has disappeared');
  return {
    retailer: { id: row.retailerId, retailerGroupId: row.retailerGroupId },
    applicantIds: row.applicantIds,
    hasErasedApplicant: row.hasErasedApplicant,
    user: row.submitter ?? undefined,
    knownCreditorIds: new Set(row.knownCreditorIds),
    submittedCreditorIds: new Set(row.submittedCreditorIds),
  };
}

/** The submissions of one application to several creditors, which differ in the creditor only. */
export interface NewSubmissions {
  applicationId: string;
  creditorIds: readonly string[];
  userId: string;
  integrationId: string;
  worksheet: Worksheet;
  submittedAt: Date;
}

const insertRows = defineStatement(
  'submissions_insert',
  `INSERT INTO submissions (application_id, creditor_id, submitted_by_user_id, integration_id,
     worksheet, submitted_at)
   SELECT $1, creditor_id, $3, $4, $5, $6 FROM unnest($2::uuid[]) AS creditor_id`,
);

/** Inserts the submissions of a locked application, and sets its status. */
export async function insertSubmissions(tx: Queryable, rows: NewSubmissions): Promise<void> {
  const { applicationId, creditorIds, userId, integrationId, submittedAt } = rows;
  const worksheet = JSON.stringify(toJson(WorksheetSchema, rows.worksheet));
  const values = [applicationId, creditorIds, userId, integrationId, worksheet, submittedAt];
  await insertRows.run(tx, values);
  await setApplicationStatus(tx, applicationId, ApplicationStatus.SUBMITTED);
}
