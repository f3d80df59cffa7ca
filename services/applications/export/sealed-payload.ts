/** Encrypts the payload of an export, and decrypts it. */
import { type SealContext, seal, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';

/** The table, column, row and tenant that an export's ciphertext is bound to. */
export function exportContext(exportId: string, retailerId: string): SealContext {
  return { table: 'exports', column: 'sealed', row: exportId, tenant: retailerId };
}

/**
 * Seals the JSON text of the payload. The text is stored, and no message that it could be made from: a later
 * version of the platform must send the same bytes.
 */
export function sealPayload(
  ring: KeyRing,
  payload: object,
  exportId: string,
  retailerId: string,
): Buffer {
  const text = Buffer.from(JSON.stringify(payload));
  return seal(ring, text, exportContext(exportId, retailerId));
}

/** The JSON text. @throws SealError unless `sealed` is this export of this retailer */
export function openPayload(
  ring: KeyRing,
  sealed: Uint8Array,
  exportId: string,
  retailerId: string,
): string {
  return Buffer.from(unseal(ring, sealed, exportContext(exportId, retailerId))).toString();
}
