import { rewrap, type SealContext } from './envelope.ts';
import type { KeyRing } from './key-ring.ts';

/** Records per query: a bound on memory, and enough rows to make the round trip worthwhile. */
const BATCH_ROWS = 200;

/** A sealed field with its place. */
export interface SealedRecord {
  context: SealContext;
  sealed: Buffer;
}

/** A table with a sealed field, which can find records by the key that wraps them. */
export interface SealedTable<R extends SealedRecord> {
  /** Finds up to `limit` records that are wrapped with another key than `keyId`. */
  findSealedWithOtherKey(keyId: string, limit: number): Promise<R[]>;
  /** Replaces the sealed field of the record, unless the field has changed since it was read. */
  replaceSealed(record: R, sealed: Buffer, keyId: string): Promise<void>;
}

/**
 * Wraps all records of a table with the current key of the ring, batch by batch, and returns how many
 * were wrapped with another key. Several processes may run at the same time: a record that another
 * process has rewrapped is not found again.
 *
 * @throws {SealError} when the ring lacks the key of a record, because it was removed too early.
 */
export async function rewrapTable<R extends SealedRecord>(
  ring: KeyRing,
  table: SealedTable<R>,
): Promise<number> {
  const keyId = ring.currentId;
  for (let count = 0; ; ) {
    const batch = await table.findSealedWithOtherKey(keyId, BATCH_ROWS);
    if (batch.length === 0) return count;
    for (const record of batch) {
      await table.replaceSealed(record, rewrap(ring, record.sealed, record.context), keyId);
    }
    count += batch.length;
  }
}
