/** Encrypts the payload of an export, and decrypts it. */
import type { DataKey } from '@creditlane/crypto/data-key';
import { type SealContext, seal, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';

/** The table, column, row and tenant that an export's ciphertext is bound to. */
export function exportContext(exportId: string, retailerId: string): SealContext {
  return { table: 'exports', column: 'sealed', row: exportId, tenant: retailerId };
}

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
): Buffer {
  const text = Buffer.from(JSON.stringify(payload));
  const context = exportContext(exportId, retailerId);
  return dataKeys === undefined ? seal(ring, text, context) : sealWithKeys(dataKeys, text, context);
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
  const context = exportContext(exportId, retailerId);
  if (dataKeys === undefined) return unseal(ring, sealed, context).toString();
  return dataKeys
    .reduceRight((outer, dataKey) => dataKey.unseal(outer, context), sealed)
    .toString();
}
