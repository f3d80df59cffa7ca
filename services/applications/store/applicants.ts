/** Writes sealed applicants. */
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
