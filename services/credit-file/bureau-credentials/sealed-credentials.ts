/** Encrypts a retailer's credentials with a bureau, and decrypts them. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import {
  type EquifaxCredentials,
  EquifaxCredentialsSchema,
  type TransUnionCredentials,
  TransUnionCredentialsSchema,
} from '@creditlane/proto/creditfile/v1/bureau_credentials_service';
import type { Source } from '../bureaus/bureau.ts';
import { sealedCredentials } from '../store/sealed-tables.ts';

/** Credentials, told apart by the bureau that they are for. */
export type BureauCredentials =
  | { source: 'EQUIFAX'; value: EquifaxCredentials }
  | { source: 'TRANSUNION'; value: TransUnionCredentials };

export function sealCredentials(
  ring: KeyRing,
  retailerId: string,
  credentials: BureauCredentials,
): SealedValue {
  const plaintext =
    credentials.source === 'EQUIFAX'
      ? toBinary(EquifaxCredentialsSchema, credentials.value)
      : toBinary(TransUnionCredentialsSchema, credentials.value);
  return sealedCredentials.seal(ring, plaintext, credentials.source, retailerId);
}

/**
 * @throws SealError unless `sealed` are the credentials of this retailer with this bureau
 * @throws UnknownKeyError while the key ring lacks their key
 */
export function openCredentials(
  ring: KeyRing,
  { retailerId, source, sealed }: { retailerId: string; source: Source; sealed: Uint8Array },
): BureauCredentials {
  const plaintext = sealedCredentials.unseal(ring, sealed, source, retailerId);
  return source === 'EQUIFAX'
    ? { source, value: fromBinary(EquifaxCredentialsSchema, plaintext) }
    : { source, value: fromBinary(TransUnionCredentialsSchema, plaintext) };
}
