import { rewrap, type SealContext } from './envelope.ts';
import type { KeyRing } from './key-ring.ts';

/** Records looked at in one go: few enough to be in memory, enough to make the trip worth it. */
const SLICE_ROWS = 200;

/** A sealed field as its table has it. */
export interface SealedRecord {
  context: SealContext;
  sealed: Buffer;
}

/** A table with a sealed field, which can tell by what key each one is wrapped. */
export interface SealedTable<R extends SealedRecord> {
  /** At most `limit` records that are wrapped with another key than `keyId`. */
  findSealedWithOtherKey(keyId: string, limit: number): Promise<R[]>;
  /** Puts `sealed` in the place of the record's field, unless that changed since it was read. */
  replaceSealed(record: R, sealed: Buffer, keyId: string): Promise<void>;
}

/**
 * Wraps every record that names another key with the ring's current one, slice by slice, and gives
 * their number. Several processes may do it at once: a record that another was faster with is just
 * not found again.
 *
 * @throws {SealError} when the ring lacks a record's key: it was taken away too early.
 */
export async function rewrapTable<R extends SealedRecord>(
  ring: KeyRing,
  table: SealedTable<R>,
): Promise<number> {
  const keyId = ring.currentId;
  for (let count = 0; ; ) {
    const slice = await table.findSealedWithOtherKey(keyId, SLICE_ROWS);
    if (slice.length === 0) return count;
    for (const record of slice) {
      await table.replaceSealed(record, rewrap(ring, record.sealed, record.context), keyId);
    }
    count += slice.length;
  }
}
