/**
 * The audit log: every pull and every read, in an order that cannot be changed unnoticed.
 *
 * The records of one retailer are a chain. Each record's hash covers its content and the hash before it, and the
 * sealed head covers the last. A chain of all retailers would let the requests of one wait for those of another, and
 * could not be shown to one retailer without the others' records. Within a chain, transactions wait for the lock
 * of the head's row, from the append to the commit.
 */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { Queryable } from '@creditlane/postgres/statement';
import { insertRecordQuery, lockHead, replaceHeadQuery } from '../store/audit-log.ts';
import { type AuditRecord, hashOf } from './audit-record.ts';
import { EMPTY_CHAIN, openHead, sealHead } from './chain-head.ts';

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
