/** Writes sealed applicants, and erases them. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Applicant, Application } from '@creditlane/proto/applications/v1/application';
import { sealApplicant } from '../applicant/sealed-applicant.ts';
import type { ApplicantRole } from '../tables.ts';

const insertRow = defineStatement(
  'applicant_insert',
  `INSERT INTO applicants (id, application_id, role, sealed, sealed_with)
   VALUES ($1, $2, $3, $4, $5)`,
);

export async function insertApplicant(
  tx: Queryable,
  keyRing: KeyRing,
  { applicationId, retailerId }: Application,
  role: ApplicantRole,
  applicant: Applicant,
): Promise<void> {
  const sealed = sealApplicant(keyRing, applicant, retailerId);
  const { applicantId } = applicant;
  await insertRow.run(tx, [applicantId, applicationId, role, sealed, keyRing.currentId]);
}

const selectApplication = defineStatement<{ id: string }>(
  'applicant_application_find',
  `SELECT applications.id FROM applicants
     JOIN applications ON applications.id = applicants.application_id
   WHERE applicants.id = $1 AND applications.retailer_id = $2`,
);

/** The id of the application of a retailer's applicant; undefined without such an applicant. */
export async function findApplicationOf(
  db: Queryable,
  applicantId: string,
  retailerId: string,
): Promise<string | undefined> {
  const [row] = await selectApplication.run(db, [applicantId, retailerId]);
  return row?.id;
}

const eraseRow = defineStatement<{ erased_at: Date }>(
  'applicant_erase',
  `WITH erased AS (
     UPDATE applicants SET sealed = $2, sealed_with = $3, erased_at = $4
     WHERE id = $1 AND erased_at IS NULL
     RETURNING erased_at)
   SELECT erased_at FROM erased
   UNION ALL SELECT erased_at FROM applicants WHERE id = $1 AND erased_at IS NOT NULL`,
);

/**
 * Replaces what is sealed of an applicant, and resolves to the time of the erasure. One that is erased already keeps
 * its time.
 */
export async function eraseApplicantRow(
  tx: Queryable,
  applicantId: string,
  sealed: Buffer,
  sealedWith: string,
  at: Date,
): Promise<Date> {
  const [row] = await eraseRow.run(tx, [applicantId, sealed, sealedWith, at]);
  return row?.erased_at ?? at;
}

const selectErased = defineStatement<{ erased: boolean }>(
  'application_has_erased_applicant',
  `SELECT EXISTS (
     SELECT FROM applicants WHERE application_id = $1 AND erased_at IS NOT NULL) AS erased`,
);

/** Whether an applicant of the application, which `tx` has locked, was erased. */
export async function hasErasedApplicant(tx: Queryable, applicationId: string): Promise<boolean> {
  const [row] = await selectErased.run(tx, [applicationId]);
  return row?.erased === true;
}
