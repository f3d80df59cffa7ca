/** Encrypts the data of an applicant, and decrypts it. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { openKey } from '@creditlane/crypto/applicant-keys';
import type { DataKey } from '@creditlane/crypto/data-key';
import { SealError, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { type Applicant, ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { sealedApplicants } from '../store/sealed-tables.ts';

/** What is stored of an applicant. */
export interface StoredApplicant {
  id: string;
  sealed: Buffer;
  /** The applicant's data key; null for an applicant sealed by a version without data keys. */
  keyId: string | null;
  /** The data key in stored form; null without one, and once it is destroyed. */
  sealedKey: Buffer | null;
  /** When the applicant was erased, or the key destroyed; null for any other. */
  erasedAt: Date | null;
}

/** Seals an applicant's whole message with the applicant's data key. */
export function sealApplicant(dataKey: DataKey, applicant: Applicant, retailerId: string): Buffer {
  const plaintext = toBinary(ApplicantSchema, applicant);
  return dataKey.seal(plaintext, sealedApplicants.context(applicant.applicantId, retailerId));
}

/** Seals an applicant's whole message in the row, as the version before does. */
export function sealInRow(ring: KeyRing, applicant: Applicant, retailerId: string): SealedValue {
  const plaintext = toBinary(ApplicantSchema, applicant);
  return sealedApplicants.seal(ring, plaintext, applicant.applicantId, retailerId);
}

/** @throws SealError unless `sealed` is this applicant of this retailer, or without the applicant's key */
export function openApplicant(
  ring: KeyRing,
  { id, sealed, keyId, sealedKey, erasedAt }: StoredApplicant,
  retailerId: string,
): Applicant {
  if (erasedAt !== null) return create(ApplicantSchema, { applicantId: id });
  const context = sealedApplicants.context(id, retailerId);
  if (keyId === null) return fromBinary(ApplicantSchema, unseal(ring, sealed, context));
  if (sealedKey === null) throw new SealError('no_data_key');
  const dataKey = openKey(ring, { id: keyId, retailer_id: retailerId, sealed: sealedKey });
  return fromBinary(ApplicantSchema, dataKey.unseal(sealed, context));
}
