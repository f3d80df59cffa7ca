/**
 * The head of a chain: the sequence and the hash of its last record, sealed with the key ring. Whoever can write
 * to the database but has no key of the ring can make no head, so records cannot be replaced or cut off unnoticed.
 */
import { seal, unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { sealedHeads } from '../store/sealed-tables.ts';
import { NO_HASH } from './audit-record.ts';

export interface ChainHead {
  seq: number;
  hash: Buffer;
}

/** The head of a chain without records. */
export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: NO_HASH };

export function sealHead(ring: KeyRing, { seq, hash }: ChainHead, retailerId: string): Buffer {
  const sequence = Buffer.alloc(8);
  sequence.writeBigUInt64BE(BigInt(seq));
  return seal(ring, Buffer.concat([sequence, hash]), sealedHeads.context(retailerId, retailerId));
}

/**
 * @throws SealError unless `sealed` is a head of this retailer's chain
 * @throws UnknownKeyError while the key ring lacks its key
 */
export function openHead(ring: KeyRing, sealed: Uint8Array, retailerId: string): ChainHead {
  const bytes = unseal(ring, sealed, sealedHeads.context(retailerId, retailerId));
  return { seq: Number(bytes.readBigUInt64BE()), hash: bytes.subarray(8) };
}
