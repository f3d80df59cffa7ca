/** Encrypts the data of an applicant, and decrypts it. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type SealContext, seal, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { type Applicant, ApplicantSchema } from '@creditlane/proto/applications/v1/application';

/** The table, column, row and tenant that an applicant's ciphertext is bound to. */
export function applicantContext(applicantId: string, retailerId: string): SealContext {
  return { table: 'applicants', column: 'sealed', row: applicantId, tenant: retailerId };
}

/** Seals an applicant's whole message. */
export function sealApplicant(ring: KeyRing, applicant: Applicant, retailerId: string): Buffer {
  const plaintext = toBinary(ApplicantSchema, applicant);
  return seal(ring, plaintext, applicantContext(applicant.applicantId, retailerId));
}

/** @throws SealError unless `sealed` is this applicant of this retailer */
export function openApplicant(
  ring: KeyRing,
  sealed: Uint8Array,
  applicantId: string,
  retailerId: string,
): Applicant {
  return fromBinary(
    ApplicantSchema,
    unseal(ring, sealed, applicantContext(applicantId, retailerId)),
  );
}
