/** Idempotency keys: a write repeated with its key has one effect and gives its first answer again. */

import { isLockTimeout } from '@creditlane/postgres/error-classes';
import { definePurge, deleteOlderThanSql } from '@creditlane/postgres/retention';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { conflict, invalid } from '@creditlane/rpc/fault';
import type pg from 'pg';

/** The SQL of a migration that creates the table of answers. */
export const createIdempotencySql: readonly string[] = [
  `CREATE TABLE idempotency (
    caller_id text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    request_digest bytea NOT NULL,
    response bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_key PRIMARY KEY (caller_id, operation, key)
  )`,
  // Costs a write next to nothing, and finds the day-old rows, which lie together.
  'CREATE INDEX idempotency_age ON idempotency USING brin (created_at)',
];

export const dropIdempotencySql: readonly string[] = ['DROP TABLE idempotency'];

/** How long an answer is kept, as PostgreSQL writes intervals. */
const STORED_ANSWER_LIFETIME = '24 hours';

/** SQL that says of a row of answers whether it still counts; the purge may be a while behind. */
export const ANSWER_IS_LIVE = `created_at > now() - interval '${STORED_ANSWER_LIFETIME}'`;

export const purgeIdempotency = definePurge(
  'idempotency_purge',
  deleteOlderThanSql('idempotency', 'created_at', STORED_ANSWER_LIFETIME),
);

/** Names one write of one caller. `requestDigest` tells a repeat from another request under its key. */
export interface Idempotency {
  callerId: string;
  operation: string;
  key: string;
  requestDigest: Uint8Array;
}

/** The answer that the first of the twins got. */
export interface Replay {
  response: Buffer;
}

const selectAnswer = defineStatement<{ request_digest: Buffer; response: Buffer; counts: boolean }>(
  'idempotency_find',
  `SELECT request_digest, response, ${ANSWER_IS_LIVE} AS counts FROM idempotency
   WHERE caller_id = $1 AND operation = $2 AND key = $3`,
);

const deleteOutlived = defineStatement(
  'idempotency_delete_outlived',
  `DELETE FROM idempotency
   WHERE caller_id = $1 AND operation = $2 AND key = $3 AND NOT ${ANSWER_IS_LIVE}`,
);

const insertAnswer = defineStatement(
  'idempotency_remember',
  `INSERT INTO idempotency (caller_id, operation, key, request_digest, response)
   SELECT $1, $2, $3, $4, $5 WHERE ${announceRequestSql('$1', '$2', '$3')}`,
);

const announceCall = defineStatement(
  'idempotency_announce',
  `SELECT WHERE ${announceRequestSql('$1', '$2', '$3')}`,
);

const findDuplicate = defineStatement<{ found: boolean }>(
  'idempotency_look_for_twin',
  `SELECT NOT pg_try_advisory_xact_lock(${lockOf('$1', '$2', '$3')}) AS found`,
);

/**
 * The answer given before under this key, if any. One that has outlived its day is none, and is
 * cleared out of the way of the next. Throws the fault `idempotency_key_reused` when the answer was
 * given to another request.
 */
export async function findReplay(db: Queryable, idem: Idempotency): Promise<Replay | undefined> {
  const [row] = await selectAnswer.run(db, named(idem));
  if (!row) return undefined;
  if (!row.counts) {
    await deleteOutlived.run(db, named(idem));
    return undefined;
  }
  assertSameRequest(idem, row.request_digest);
  return { response: row.response };
}

function assertSameRequest(idem: Idempotency, storedDigest: Uint8Array): void {
  if (Buffer.compare(idem.requestDigest, storedDigest) === 0) return;
  throw invalid(
    'idempotency_key_reused',
    'This Idempotency-Key was used before with a different request.',
  );
}

/**
 * Keeps the answer in the transaction that makes it true. Waits for a twin in its own transaction
 * and rejects (`isDuplicateRequest`) once that one commits.
 */
export async function rememberAnswer(
  tx: Queryable,
  idem: Idempotency,
  response: Uint8Array,
): Promise<void> {
  await insertAnswer.run(tx, [...named(idem), idem.requestDigest, response]);
}

/**
 * SQL for a WHERE: always true, waits for nobody, and shows until the transaction ends that a call
 * with this key is under way. `rememberAnswer` does as much. A statement that waits for a row before
 * the answer is kept says so here; then a wait in vain can be told from a twin (`refuseWhileDuplicateRuns`).
 * The arguments are SQL.
 */
export function announceRequestSql(callerId: string, operation: string, key: string): string {
  // False to a call that comes in the moment in which another looks for its twin: it is not null.
  return `pg_try_advisory_xact_lock_shared(${lockOf(callerId, operation, key)}) IS NOT NULL`;
}

function lockOf(callerId: string, operation: string, key: string): string {
  const name = [callerId, operation, key].map((part) => `${part}::text`).join(" || E'\\n' || ");
  return `hashtextextended(${name}, 0)`;
}

/** The same as a statement of its own, for a transaction of several. */
export async function announceRequest(tx: Queryable, idem: Idempotency | undefined): Promise<void> {
  if (idem) await announceCall.run(tx, named(idem));
}

/**
 * For a write that failed with `error`, and whose transaction is over. Throws the fault
 * `idempotency_in_progress` when it waited for a lock in vain while another call with its key is
 * under way; nothing of this one was written.
 */
export async function refuseWhileDuplicateRuns(
  db: Queryable,
  idem: Idempotency,
  error: unknown,
): Promise<void> {
  if (!isLockTimeout(error)) return;
  const [twin] = await findDuplicate.run(db, named(idem));
  if (!twin?.found) return;
  throw conflict(
    'idempotency_in_progress',
    'An earlier request with this Idempotency-Key is still under way.',
  );
}

function named({ callerId, operation, key }: Idempotency): string[] {
  return [callerId, operation, key];
}

/** Whether a write failed because its twin came first. */
export function isDuplicateRequest(error: unknown): boolean {
  return (
    error instanceof Error &&
    'constraint' in error &&
    error.constraint === 'idempotency_key' &&
    'code' in error &&
    error.code === '23505'
  );
}

/**
 * Answers a write once per key: with the answer of before, or with that of `write`, which must store
 * it (`rememberAnswer`, or a statement of its own) in the transaction of its effect. A twin that was
 * faster gives the answer. Without `idem` it just writes.
 */
export async function answerOnce(
  pool: pg.Pool,
  idem: Idempotency | undefined,
  write: () => Promise<Uint8Array>,
): Promise<{ response: Uint8Array; replayed: boolean }> {
  if (!idem) return { response: await write(), replayed: false };
  const before = await findReplay(pool, idem);
  if (before) return { ...before, replayed: true };
  try {
    return { response: await write(), replayed: false };
  } catch (error) {
    await refuseWhileDuplicateRuns(pool, idem, error);
    const twin = isDuplicateRequest(error) ? await findReplay(pool, idem) : undefined;
    if (!twin) throw error;
    return { ...twin, replayed: true };
  }
}
