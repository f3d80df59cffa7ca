/** Encrypts the payload of an export, and decrypts it. */
import type { DataKey } from '@creditlane/crypto/data-key';
import { type SealContext, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedExport } from '../store/exports.ts';
import { sealedExports } from '../store/sealed-tables.ts';

/**
 * Seals the JSON text of the payload with the keys of all applicants, one around the other: it holds the data of all of
 * them, so it is to be unreadable once the key of any is destroyed.
 */
export function sealWithKeys(
  dataKeys: readonly DataKey[],
  text: Buffer,
  context: SealContext,
): Buffer {
  return dataKeys.reduce((inner, dataKey) => dataKey.seal(inner, context), text);
}

/**
 * Seals the JSON text of the payload. The text is stored, and no message that it could be made from: a later
 * version of the platform must send the same bytes.
 *
 * @param dataKeys of all applicants of the application, in their order; undefined where not all of them have one
 */
export function sealPayload(
  ring: KeyRing,
  dataKeys: readonly DataKey[] | undefined,
  payload: object,
  exportId: string,
  retailerId: string,
): Pick<SealedExport, 'sealed' | 'sealedWith'> {
  const text = Buffer.from(JSON.stringify(payload));
  if (dataKeys === undefined) return sealedExports.seal(ring, text, exportId, retailerId);
  const context = sealedExports.context(exportId, retailerId);
  return { sealed: sealWithKeys(dataKeys, text, context), sealedWith: null };
}

/**
 * The JSON text.
 * @param dataKeys as it was sealed
 * @throws SealError unless `sealed` is this export of this retailer
 */
export function openPayload(
  ring: KeyRing,
  dataKeys: readonly DataKey[] | undefined,
  sealed: Buffer,
  exportId: string,
  retailerId: string,
): string {
  const context = sealedExports.context(exportId, retailerId);
  if (dataKeys === undefined) return unseal(ring, sealed, context).toString();
  return dataKeys
    .reduceRight((outer, dataKey) => dataKey.unseal(outer, context), sealed)
    .toString();
}
