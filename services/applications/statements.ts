/** The named statements of the applications service, by which it writes and reads the way of every call. */
import { defineStatement } from '@creditlane/postgres/statement';
import type { RetailerUser } from './user.ts';

export const locateApplication = defineStatement<{
  retailer_id: string;
  in_context: boolean | null;
}>(
  'application_locate',
  `SELECT owner.id AS retailer_id,
     (owner.id = context.id OR owner.retailer_group_id = context.retailer_group_id) AS in_context
   FROM applications JOIN retailers AS owner ON owner.id = applications.retailer_id
   LEFT JOIN retailers AS context ON context.id = $2
   WHERE applications.id = $1`,
);

export const findSubmission = defineStatement<{
  retailer_id: string;
  worksheet: object;
  submitted_at: Date;
}>(
  'submission_find',
  `SELECT applications.retailer_id, submissions.worksheet, submissions.submitted_at
   FROM submissions JOIN applications ON applications.id = submissions.application_id
   WHERE submissions.application_id = $1 AND submissions.creditor_id = $2`,
);

export const findRetailer = defineStatement<{ id: string }>(
  'retailer_find',
  'SELECT id FROM retailers WHERE id = $1',
);

export const insertApplication = defineStatement<{ id: string }>(
  'application_insert',
  `INSERT INTO applications
     (id, retailer_id, type, status, reference_number, relationship, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (retailer_id, reference_number) DO NOTHING
   RETURNING id`,
);

export const findReference = defineStatement<{ id: string }>(
  'application_by_reference',
  'SELECT id FROM applications WHERE retailer_id = $1 AND reference_number = $2',
);

export const insertApplicant = defineStatement(
  'applicant_insert',
  `INSERT INTO applicants (id, application_id, role, sealed, sealed_with)
   VALUES ($1, $2, $3, $4, $5)`,
);

export const lockApplication = defineStatement<{ status: string }>(
  'application_lock',
  'SELECT status FROM applications WHERE id = $1 AND retailer_id = $2 FOR UPDATE',
);

export const readFacts = defineStatement<{
  retailer_id: string;
  retailer_group_id: string | null;
  applicant_ids: string[];
  submitter: RetailerUser | null;
  known_creditor_ids: string[];
  submitted_creditor_ids: string[];
}>(
  'submission_facts',
  `SELECT retailers.id AS retailer_id, retailers.retailer_group_id,
     ARRAY(SELECT id FROM applicants WHERE application_id = $1) AS applicant_ids,
     (SELECT jsonb_build_object('active', active, 'retailerIds', retailer_ids,
        'retailerGroupIds', retailer_group_ids) FROM users WHERE id = $2) AS submitter,
     ARRAY(SELECT id FROM creditors WHERE id = ANY ($3::uuid[])) AS known_creditor_ids,
     ARRAY(SELECT creditor_id FROM submissions WHERE application_id = $1)
       AS submitted_creditor_ids
   FROM applications JOIN retailers ON retailers.id = applications.retailer_id
   WHERE applications.id = $1`,
);

export const insertSubmissions = defineStatement(
  'submissions_insert',
  `INSERT INTO submissions (application_id, creditor_id, submitted_by_user_id, integration_id,
     worksheet, submitted_at)
   SELECT $1, creditor_id, $3, $4, $5, $6 FROM unnest($2::uuid[]) AS creditor_id`,
);

export const insertConsents = defineStatement(
  'consents_insert',
  `INSERT INTO consents (id, applicant_id, recorded_by_user_id, integration_id, consented_at)
   SELECT gen_random_uuid(), applicant_id, $2, $3, $4 FROM unnest($1::uuid[]) AS applicant_id`,
);

export const setStatus = defineStatement(
  'application_set_status',
  'UPDATE applications SET status = $2 WHERE id = $1',
);
