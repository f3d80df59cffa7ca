/** The evidence of one pull: who asked, on which consent, what became of it, and the proof of the audit log. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { findPullRecords } from '../store/audit-log.ts';
import { findPull } from '../store/pulls.ts';
import { canonicalContent, NO_HASH } from './audit-record.ts';
import { type Verification, verifyChain } from './verify-chain.ts';

/** One record. SHA-256 of the bytes of `previousHash` and of `content` is `hash`. Hashes are in hex. */
interface RecordProof {
  seq: number;
  content: string;
  previousHash: string;
  hash: string;
}

export interface PullEvidence {
  pull: object;
  /** What the audit log says of the pull, the reads of its file included. */
  records: RecordProof[];
  /** Whether the retailer's chain, of which these records are a part, is whole now, with its head. */
  chain: Verification;
}

/** The evidence of a pull, without the file; undefined when there is no such pull. */
export async function findPullEvidence(
  pool: Database['pool'],
  keyRing: KeyRing,
  pullId: string,
): Promise<PullEvidence | undefined> {
  const pull = await findPull(pool, pullId);
  if (pull === undefined) return undefined;
  const chained = await findPullRecords(pool, pullId);
  const records = chained.map(({ previousHash, ...record }) => ({
    seq: record.seq,
    content: canonicalContent(record.seq, record),
    previousHash: (previousHash ?? NO_HASH).toString('hex'),
    hash: record.hash.toString('hex'),
  }));
  return { pull, records, chain: await verifyChain(pool, keyRing, pull.retailerId) };
}
