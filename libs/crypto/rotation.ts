/** The rotation of key-encryption keys: wraps the sealed fields of tables with the current key of the ring. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { isUnsealFailure, rewrap, type SealContext, UnknownKeyError } from './envelope.ts';
import type { FixedKeyRing, KeyRing } from './key-ring.ts';

/** Records per query: a bound on memory and on the time of the event loop, and enough for the round trip. */
const BATCH_ROWS = 200;
/** After a pass that has left records: longer than another process takes to wrap a batch. */
const RECHECK_MS = 500;

/** A sealed field with its place. */
export interface SealedRecord {
  context: SealContext;
  sealed: Buffer;
}

/** A record whose data key was wrapped again. */
export interface Rewrapped<R extends SealedRecord> {
  record: R;
  sealed: Buffer;
}

/** A table with a sealed field, which finds records by the key that wraps them. */
export interface SealedTable<R extends SealedRecord = SealedRecord> {
  readonly name: string;
  /** The ids of all keys that wrap records. Takes no longer in a larger table. */
  findKeyIds(): Promise<string[]>;
  /** Finds up to `limit` records that the key wraps, after the first `offset` of them. */
  findSealedWith(keyId: string, limit: number, offset: number): Promise<R[]>;
  /**
   * Replaces the sealed fields of records, except those that have changed since they were read, or that another
   * transaction has locked: it waits for none. Resolves to the number of replaced fields.
   */
  replaceSealed(records: readonly Rewrapped<R>[], keyId: string): Promise<number>;
}

/** What a rotation did in a table. */
export interface Rotation {
  rewrapped: number;
  /** Records with another key that are left: locked all the time, or damaged. */
  left: number;
}

/**
 * Refuses a ring that lacks the key of a record, because the key was removed too early.
 * @throws UnknownKeyError
 */
export async function requireKeys(ring: KeyRing, tables: readonly SealedTable[]): Promise<void> {
  for (const table of tables) {
    for (const keyId of await table.findKeyIds()) requireKey(ring, keyId, table);
  }
}

function requireKey(ring: KeyRing, keyId: string, { name }: SealedTable): void {
  if (!ring.has(keyId)) throw new UnknownKeyError({ keyId, table: name });
}

/**
 * Wraps all records of a table with the current key of the ring, batch by batch, with a pause after each that is as
 * long as the batch took. Several processes may run at the same time: a record that another one is wrapping is left in
 * one pass and gone in the next. So a record counts as left after two passes. A damaged record is left as it is.
 *
 * @throws UnknownKeyError when the ring lacks the key of a record; the error of the database; an AbortError of `stop`
 */
export async function rewrapTable<R extends SealedRecord>(
  ring: KeyRing,
  table: SealedTable<R>,
  stop?: AbortSignal,
): Promise<Rotation> {
  let total = 0;
  for (let leftBefore = Number.POSITIVE_INFINITY; ; ) {
    // One pass wraps with one key, of which the table gets the id.
    const { rewrapped, left } = await rewrapOnce(ring.snapshot(), table, stop);
    total += rewrapped;
    if (rewrapped === 0 && (left === 0 || left >= leftBefore)) return { rewrapped: total, left };
    leftBefore = left;
    if (left > 0) await delay(RECHECK_MS, undefined, { signal: stop });
  }
}

/** One pass over the records of all keys but the current one. */
async function rewrapOnce<R extends SealedRecord>(
  ring: FixedKeyRing,
  table: SealedTable<R>,
  stop: AbortSignal | undefined,
): Promise<Rotation> {
  const pass = { rewrapped: 0, left: 0 };
  for (const keyId of await table.findKeyIds()) {
    if (keyId === ring.currentId) continue;
    requireKey(ring, keyId, table);
    const { rewrapped, left } = await rewrapKey(ring, table, keyId, stop);
    pass.rewrapped += rewrapped;
    pass.left += left;
  }
  return pass;
}

/** One pass over the records that a key wraps. */
async function rewrapKey<R extends SealedRecord>(
  ring: FixedKeyRing,
  table: SealedTable<R>,
  keyId: string,
  stop: AbortSignal | undefined,
): Promise<Rotation> {
  const pass = { rewrapped: 0, left: 0 };
  for (;;) {
    const startedMs = performance.now();
    const records = await table.findSealedWith(keyId, BATCH_ROWS, pass.left);
    if (records.length === 0) return pass;
    const openable = records.flatMap((record) => rewrapRecord(ring, record));
    const replaced = openable.length && (await table.replaceSealed(openable, ring.currentId));
    pass.rewrapped += replaced;
    pass.left += records.length - replaced;
    await delay(performance.now() - startedMs, undefined, { signal: stop });
  }
}

function rewrapRecord<R extends SealedRecord>(ring: KeyRing, record: R): Rewrapped<R>[] {
  try {
    return [{ record, sealed: rewrap(ring, record.sealed, record.context) }];
  } catch (error) {
    if (isUnsealFailure(error)) return [];
    throw error;
  }
}

/** Wraps the records of the tables with the current key, and tells of each table; false when any are left. */
export async function rewrapTables(
  ring: KeyRing,
  tables: readonly SealedTable[],
  report: (rotation: Rotation & { table: string }) => void,
): Promise<boolean> {
  let isDone = true;
  for (const table of tables) {
    const rotation = await rewrapTable(ring, table);
    report({ table: table.name, ...rotation });
    if (rotation.left > 0) isDone = false;
  }
  return isDone;
}

interface RotationTimes {
  /** How often the ring is asked for its current key, and how soon a table that failed is tried again. */
  checkMs: number;
  /** How long after a rotation another one wraps what was written meanwhile by processes with the earlier file. */
  repeatMs: number;
}

/** Two kubelets may write a new Secret minutes apart. */
const ROTATION_TIMES: RotationTimes = { checkMs: 5_000, repeatMs: 5 * 60_000 };

/**
 * Checks that the ring has all keys that it needs, and then wraps the records of the tables with its current key,
 * beside the service: a rotation of millions of records takes longer than a start may. Whenever the ring has another
 * current key, it wraps them again.
 *
 * A process that runs wraps nothing while its current key stays the same: with the ring of the step before, it would
 * wrap what others have wrapped with the new key with the old one again. A process that starts with that ring does so
 * once, and wraps these records again when it gets the new key.
 *
 * @throws UnknownKeyError when the ring lacks the key of a record
 */
export async function startRotation(
  ring: KeyRing,
  tables: readonly SealedTable[],
  log: Log,
  { checkMs, repeatMs } = ROTATION_TIMES,
): Promise<PeriodicTask> {
  await requireKeys(ring, tables);
  let wrappedWith: string | undefined;
  let repeatAtMs = Number.POSITIVE_INFINITY;
  let failed: readonly SealedTable[] = [];
  return startPeriodicTask(checkMs, async (stop) => {
    const { currentId } = ring.snapshot();
    const isNew = currentId !== wrappedWith;
    const isWhole = isNew || performance.now() >= repeatAtMs;
    failed = await rotate(ring, isWhole ? tables : failed, log, stop);
    if (isWhole) {
      repeatAtMs = isNew ? performance.now() + repeatMs : Number.POSITIVE_INFINITY;
      wrappedWith = currentId;
    }
  });
}

/** One table after the other, so that it takes one connection. Resolves to the tables that failed. */
async function rotate(
  ring: KeyRing,
  tables: readonly SealedTable[],
  log: Log,
  stop: AbortSignal,
): Promise<SealedTable[]> {
  const failed: SealedTable[] = [];
  for (const table of tables) {
    try {
      const { rewrapped, left } = await rewrapTable(ring, table, stop);
      const fields = { table: table.name, rewrapped, left };
      if (left > 0) log.error(fields, 'records could not be wrapped with the current key');
      else if (rewrapped > 0) log.info(fields, 'records wrapped with the current key');
    } catch (err) {
      if (stop.aborted) return failed;
      log.warn({ err, table: table.name }, 'the rotation of the key ring is tried again');
      failed.push(table);
    }
  }
  return failed;
}
