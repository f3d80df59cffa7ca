/** Encrypts a retailer's credentials with a bureau, and decrypts them. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { type SealContext, seal, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import {
  type EquifaxCredentials,
  EquifaxCredentialsSchema,
  type TransUnionCredentials,
  TransUnionCredentialsSchema,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type { Source } from '../bureaus/bureau.ts';

/** Credentials, told apart by the bureau that they are for. */
export type BureauCredentials =
  | { source: 'EQUIFAX'; value: EquifaxCredentials }
  | { source: 'TRANSUNION'; value: TransUnionCredentials };

/** The table, column, row and tenant that the ciphertext is bound to. */
export function credentialsContext(retailerId: string, source: Source): SealContext {
  return { table: 'bureau_credentials', column: 'sealed', row: source, tenant: retailerId };
}

export function sealCredentials(
  ring: KeyRing,
  retailerId: string,
  credentials: BureauCredentials,
): Buffer {
  const plaintext =
    credentials.source === 'EQUIFAX'
      ? toBinary(EquifaxCredentialsSchema, credentials.value)
      : toBinary(TransUnionCredentialsSchema, credentials.value);
  return seal(ring, plaintext, credentialsContext(retailerId, credentials.source));
}

/**
 * @throws SealError unless `sealed` are the credentials of this retailer with this bureau
 * @throws UnknownKeyError while the key ring lacks their key
 */
export function openCredentials(
  ring: KeyRing,
  { retailerId, source, sealed }: { retailerId: string; source: Source; sealed: Uint8Array },
): BureauCredentials {
  const plaintext = unseal(ring, sealed, credentialsContext(retailerId, source));
  return source === 'EQUIFAX'
    ? { source, value: fromBinary(EquifaxCredentialsSchema, plaintext) }
    : { source, value: fromBinary(TransUnionCredentialsSchema, plaintext) };
}
