/**
 * The audit log: every pull and every read, in an order that cannot be changed unnoticed.
 *
 * The records of one retailer are a chain. Each record's hash covers its content and the hash before it, and the
 * sealed head covers the last. A chain of all retailers would let the requests of one wait for those of another, and
 * could not be shown to one retailer without the others' records. Within a chain, transactions wait for the lock
 * of the head's row, from the append to the commit.
 */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { SealedValue } from '@creditlane/crypto/sealed-column';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { Queryable } from '@creditlane/postgres/statement';
import { insertRecordQuery, lockHead, replaceHeadQuery } from '../store/audit-log.ts';
import { sealedHeads } from '../store/sealed-tables.ts';
import { type AuditRecord, hashOf, NO_HASH } from './audit-record.ts';

/**
 * Appends a record to its retailer's chain, in the transaction of the act that it records. It is the transaction's
 * last work: later work would hold up the retailer's other requests, and locks taken after the head's can deadlock.
 *
 * @throws SealError when the chain's head was changed: the act must not go on without a record
 * @throws UnknownKeyError while the key ring lacks the head's key
 */
export async function appendAuditRecord(
  tx: Queryable,
  keyRing: KeyRing,
  record: AuditRecord,
): Promise<void> {
  const { retailerId } = record;
  const makeEmptyHead = () => sealHead(keyRing, EMPTY_CHAIN, retailerId);
  const sealed = await lockHead(tx, retailerId, makeEmptyHead);
  const { seq: lastSeq, hash: lastHash } = openHead(keyRing, sealed, retailerId);
  const seq = lastSeq + 1;
  const hash = hashOf(lastHash, seq, record);
  const head = sealHead(keyRing, { seq, hash }, retailerId);
  await runPipeline(tx, [
    insertRecordQuery({ ...record, seq, hash }),
    replaceHeadQuery(retailerId, head),
  ]);
}

/**
 * The head of a chain: the sequence and the hash of its last record, sealed with the key ring. Whoever can write
 * to the database but has no key of the ring can make no head, so records cannot be replaced or cut off unnoticed.
 */
export interface ChainHead {
  seq: number;
  hash: Buffer;
}

/** The head of a chain without records. */
export const EMPTY_CHAIN: ChainHead = { seq: 0, hash: NO_HASH };

function sealHead(ring: KeyRing, { seq, hash }: ChainHead, retailerId: string): SealedValue {
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
