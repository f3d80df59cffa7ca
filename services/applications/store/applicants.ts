/** Writes sealed applicants, and erases them. */

import { destroyKey, makeKey } from '@creditlane/crypto/applicant-keys';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { Applicant, Application } from '@creditlane/proto/applications/v1/application';
import { sealApplicant, sealInRow } from '../applicant/sealed-applicant.ts';
import type { ApplicantRole } from './application-row.ts';

/** What seals an applicant. */
export interface ApplicantSealing {
  keyRing: KeyRing;
  newId: () => string;
  /** Whether applicants get data keys of their own. */
  usesKeys: boolean;
}

const insertRow = defineStatement(
  'applicant_insert',
  `INSERT INTO applicants (id, application_id, role, key_id, sealed, sealed_with)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

export async function insertApplicant(
  tx: Queryable,
  { usesKeys, ...sealing }: ApplicantSealing,
  { applicationId, retailerId }: Application,
  role: ApplicantRole,
  applicant: Applicant,
  at: Date,
): Promise<void> {
  const { applicantId } = applicant;
  const ids = [applicantId, applicationId, role];
  if (usesKeys) {
    const { id, dataKey } = await makeKey(tx, sealing, { applicantId, retailerId }, at);
    await insertRow.run(tx, [...ids, id, sealApplicant(dataKey, applicant, retailerId), '']);
    return;
  }
  const { sealed, sealedWith } = sealInRow(sealing.keyRing, applicant, retailerId);
  await insertRow.run(tx, [...ids, null, sealed, sealedWith]);
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
     UPDATE applicants SET erased_at = $4,
       sealed = CASE WHEN key_id IS NULL THEN $2::bytea ELSE '' END,
       sealed_with = CASE WHEN key_id IS NULL THEN $3 ELSE '' END
     WHERE id = $1 AND erased_at IS NULL
     RETURNING erased_at)
   SELECT erased_at FROM erased
   UNION ALL SELECT erased_at FROM applicants WHERE id = $1 AND erased_at IS NOT NULL`,
);

/**
 * Destroys the applicant's data key, deletes what is sealed of the applicant, and resolves to the time of the erasure.
 * One that is erased already keeps its time.
 *
 * @param left what is left of an applicant without a data key
 */
export async function eraseApplicantRow(
  tx: Queryable,
  { applicantId, retailerId }: { applicantId: string; retailerId: string },
  left: SealedValue,
  at: Date,
): Promise<Date> {
  const [row] = await eraseRow.run(tx, [applicantId, left.sealed, left.sealedWith, at]);
  // After the row, whose lock a conversion may hold that makes the key.
  await destroyKey(tx, { applicantId, retailerId }, at);
  return row?.erased_at ?? at;
}
