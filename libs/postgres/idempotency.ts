/** Idempotency keys: a write repeated with its key has one effect and gives its first answer again. */
import { invalid } from '@creditlane/rpc/fault';
import type pg from 'pg';
import { type Queryable, statement } from './statement.ts';

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

const selectAnswer = statement<{ request_digest: Buffer; response: Buffer }>(
  'idempotency_find',
  'SELECT request_digest, response FROM idempotency WHERE caller_id = $1 AND operation = $2 AND key = $3',
);

const insertAnswer = statement(
  'idempotency_remember',
  `INSERT INTO idempotency (caller_id, operation, key, request_digest, response)
   VALUES ($1, $2, $3, $4, $5)`,
);

/**
 * The answer given before under this key, if any. Throws the fault `idempotency_key_reused` when it
 * was given to another request.
 */
export async function findReplay(db: Queryable, idem: Idempotency): Promise<Replay | undefined> {
  const [row] = await selectAnswer.run(db, [idem.callerId, idem.operation, idem.key]);
  if (!row) return undefined;
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
 * and rejects (`isTwin`) once that one commits.
 */
export async function rememberAnswer(
  tx: Queryable,
  idem: Idempotency,
  response: Uint8Array,
): Promise<void> {
  const { callerId, operation, key, requestDigest } = idem;
  await insertAnswer.run(tx, [callerId, operation, key, requestDigest, response]);
}

/** Whether a write failed because its twin came first. */
export function isTwin(error: unknown): boolean {
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
    const twin = isTwin(error) ? await findReplay(pool, idem) : undefined;
    if (!twin) throw error;
    return { ...twin, replayed: true };
  }
}
