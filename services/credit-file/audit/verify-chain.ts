/** Verifies the chains of the audit log, from their first records to their heads. */
import { SealError, UnknownKeyError } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  findHead,
  findRecordedRetailers,
  findRecordsAfter,
  findUnrecordedPull,
} from '../store/audit-log.ts';
import { type ChainHead, EMPTY_CHAIN, openHead } from './audit-log.ts';
import { hashOf } from './audit-record.ts';

const RECORDS_PER_QUERY = 1_000;

/** A head that was noted outside of the database, such as in the output of an earlier verification. */
export interface NotedHead {
  retailerId: string;
  seq: number;
  /** In hex. */
  hash: string;
  /** The sealed head in base64, as the service logs it, by which the other fields are authentic. */
  signed?: string;
}

/** The first record of a chain that is not as it was written, or the place of one that is missing. */
export interface BrokenChain {
  retailerId: string;
  seq: number;
  problem: string;
}

export type Verification = { kind: 'whole'; head: NotedHead } | ({ kind: 'broken' } & BrokenChain);

/** Verifies every chain, one after the other; a retailer of a noted head must have a chain. */
export async function* verifyAuditLog(
  pool: Database['pool'],
  keyRing: KeyRing,
  noted: readonly NotedHead[] = [],
): AsyncGenerator<Verification> {
  const found = await findRecordedRetailers(pool);
  const notedOf = Map.groupBy(noted, ({ retailerId }) => retailerId);
  for (const retailerId of new Set([...found, ...notedOf.keys()])) {
    yield await verifyChain(pool, keyRing, retailerId, notedOf.get(retailerId));
  }
}

/**
 * Verifies one chain as of one moment, while records are appended: a record that was changed, removed or moved,
 * records cut off at the end, a pull whose request, sending or end is not recorded as its row has it, and a chain that
 * lacks any of the noted heads. Without a noted head, a database that was set back as a whole, records, head and pulls together, is not detected.
 */
export function verifyChain(
  pool: Database['pool'],
  keyRing: KeyRing,
  retailerId: string,
  noted: readonly NotedHead[] = [],
  recordsPerQuery = RECORDS_PER_QUERY,
): Promise<Verification> {
  return inTransaction(pool, async (tx) => {
    // One snapshot for the head and all records.
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const broken = (seq: number, problem: string): Verification => {
      return { kind: 'broken', retailerId, seq, problem };
    };
    for (const head of noted) {
      if (!isAuthentic(keyRing, head)) return broken(head.seq, 'the noted head is not authentic');
    }
    const notedAt = Map.groupBy(noted, ({ seq }) => seq);
    let last: ChainHead = EMPTY_CHAIN;
    for (;;) {
      const records = await findRecordsAfter(tx, retailerId, last.seq, recordsPerQuery);
      for (const record of records) {
        const { seq, hash } = record;
        if (seq !== last.seq + 1) return broken(last.seq + 1, 'the record is missing');
        if (!hashOf(last.hash, seq, record).equals(hash)) {
          return broken(seq, 'the record does not match its hash');
        }
        // Heads noted before and after the records were replaced differ: each of them counts.
        if (notedAt.get(seq)?.some((head) => head.hash !== hash.toString('hex'))) {
          return broken(seq, 'the record is another one than the noted head names');
        }
        last = { seq, hash };
      }
      if (records.length < recordsPerQuery) break;
    }
    const problem = problemOfHead(keyRing, await findHead(tx, retailerId), retailerId, last);
    if (problem instanceof UnknownKeyError) {
      return broken(last.seq + 1, `the head cannot be opened: ${problem.message}`);
    }
    if (problem !== undefined) return broken(last.seq + 1, problem);
    const pull = await findUnrecordedPull(tx, retailerId);
    if (pull !== undefined) {
      return broken(last.seq + 1, `pull ${pull.id} has no record ${pull.action} that matches it`);
    }
    if (noted.some(({ seq }) => seq > last.seq)) {
      return broken(last.seq + 1, 'the record is missing: a noted head is later');
    }
    return { kind: 'whole', head: { retailerId, seq: last.seq, hash: last.hash.toString('hex') } };
  });
}

/** False for a signed head that was not sealed as it says. One whose key the ring does not have any more counts as unsigned. */
function isAuthentic(keyRing: KeyRing, { retailerId, seq, hash, signed }: NotedHead): boolean {
  if (signed === undefined) return true;
  try {
    const head = openHead(keyRing, Buffer.from(signed, 'base64'), retailerId);
    return head.seq === seq && head.hash.toString('hex') === hash;
  } catch (error) {
    if (error instanceof UnknownKeyError) return true;
    if (error instanceof SealError) return false;
    throw error;
  }
}

/**
 * What the head says of the chain whose last record is `last`; undefined when it names that record, and an
 * `UnknownKeyError` while the ring lacks the head's key, which says nothing of the chain.
 */
export function problemOfHead(
  keyRing: KeyRing,
  sealed: Buffer | undefined,
  retailerId: string,
  last: ChainHead = EMPTY_CHAIN,
): string | UnknownKeyError | undefined {
  if (sealed === undefined) return last.seq > 0 ? 'the head is missing' : undefined;
  try {
    const head = openHead(keyRing, sealed, retailerId);
    if (head.seq > last.seq) return `the record is missing: the head names record ${head.seq}`;
    const matches = head.seq === last.seq && head.hash.equals(last.hash);
    return matches ? undefined : `the head names another record ${head.seq}`;
  } catch (error) {
    if (error instanceof UnknownKeyError) return error;
    if (error instanceof SealError) return `the head is not authentic: ${error.message}`;
    throw error;
  }
}
