/** Erases an applicant: the data key, the sealed personal data, and the payloads of the exports that hold it. */
import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import type { Call } from '@creditlane/rpc/call';
import type { Clock } from '@creditlane/runtime/clock';
import { eraseApplicantRow, findApplicationOf } from '../store/applicants.ts';
import { lockApplication } from '../store/applications.ts';
import { deletePayloadsOf } from '../store/exports.ts';
import { sealInRow } from './sealed-applicant.ts';

export interface EraseApplicantDeps {
  /** Acts for no tenant: the credit-file service asks, for the platform's administration. */
  owner: Database['pool'];
  rowTurns: Database['rowTurns'];
  /** Seals what is left of an applicant without a data key. */
  keyRing: KeyRing;
  clock: Clock;
}

/**
 * Destroys the applicant's data key, and with it what it has sealed: the applicant's data and the payloads of the
 * application's exports, in copies of their tables, too. They are also deleted. The application, its submissions and its
 * consents stay: they hold ids, the terms of the loan and the vehicle. An export holds both applicants, so that of the
 * other one goes with it.
 *
 * Copies of the stored key in backups, in WAL and in pages that are not yet overwritten are wrapped by a key of the key
 * ring; they end when the ring is rotated and its old key is destroyed.
 *
 * @returns when the data was erased, by this call or an earlier one
 */
export async function eraseApplicant(
  { owner, rowTurns, keyRing, clock }: EraseApplicantDeps,
  applicantId: string,
  retailerId: string,
  call: Pick<Call, 'identity' | 'signal'>,
): Promise<{ erased: boolean; erasedAt?: Timestamp }> {
  const applicationId = await findApplicationOf(owner, applicantId, retailerId);
  if (applicationId === undefined) return { erased: false };
  const erase = async (tx: Queryable) => {
    // Submissions and exports take this lock: they come before the erasure, or see it.
    await lockApplication(tx, applicationId, retailerId);
    const left = sealInRow(keyRing, create(ApplicantSchema, { applicantId }), retailerId);
    await deletePayloadsOf(tx, applicationId);
    const applicant = { applicantId, retailerId };
    return eraseApplicantRow(tx, applicant, left, clock());
  };
  const erasedAt = await rowTurns.run(applicationId, () => inTransaction(owner, erase), call);
  return { erased: true, erasedAt: timestampFromDate(erasedAt) };
}
