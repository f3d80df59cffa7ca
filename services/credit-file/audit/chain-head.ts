/**
 * The head of a chain: the sequence and the hash of its last record, sealed with the key ring. Whoever can write
 * to the database but has no key of the ring can make no head, so records cannot be replaced or cut off unnoticed.
 */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { sealedHeads } from '../store/sealed-tables.ts';
import { NO_HASH } from './audit-record.ts';

export interface ChainHead {
  seq: number;
  hash: Buffer;
}

/** The head of a chain without records. */
export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: NO_HASH };

export function sealHead(ring: KeyRing, { seq, hash }: ChainHead, retailerId: string): SealedValue {
  const sequence = Buffer.alloc(8);
  sequence.writeBigUInt64BE(BigInt(seq));
  return sealedHeads.seal(ring, Buffer.concat([sequence, hash]), retailerId, retailerId);
}

/**
 * @throws SealError unless `sealed` is a head of this retailer's chain
 * @throws UnknownKeyError while the key ring lacks its key
 */
export function openHead(ring: KeyRing, sealed: Uint8Array, retailerId: string): ChainHead {
  const bytes = sealedHeads.unseal(ring, sealed, retailerId, retailerId);
  return { seq: Number(bytes.readBigUInt64BE()), hash: bytes.subarray(8) };
}
