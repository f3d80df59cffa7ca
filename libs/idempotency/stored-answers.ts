/**
 * Stored answers: a request repeated with its idempotency key has one effect and gets its first answer again.
 *
 * A write stores its answer in the transaction of its effect. Of two duplicate requests, the second
 * violates the table's primary key, is rolled back, and gets the answer that the first has stored.
 */
import { isUniqueViolation } from '@creditlane/postgres/error-classes';
import type { Migration } from '@creditlane/postgres/migrate';
import { definePurge, PURGE_BATCH_ROWS } from '@creditlane/postgres/retention';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { concurrentIndexMigration, sqlMigration } from '@creditlane/postgres/sql-migration';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { invalid } from '@creditlane/rpc/fault';
import { isRefusal, markInProgressSql, refuseDuplicateInProgress } from './duplicate-requests.ts';

const PRIMARY_KEY = 'idempotency_key';

/** The SQL of a migration that creates the table of stored answers. */
export const createIdempotencySql: readonly string[] = [
  `CREATE TABLE idempotency (
    caller_id text NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    request_digest bytea NOT NULL,
    response bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ${PRIMARY_KEY} PRIMARY KEY (caller_id, operation, key)
  )`,
  // A BRIN index adds next to nothing to the cost of a write, and finds expired rows, which are adjacent.
  'CREATE INDEX idempotency_age ON idempotency USING brin (created_at)',
];

/** The SQL of a migration that shows every request the stored answers of its own caller only. */
export const secureIdempotencySql: readonly string[] = enableRowSecuritySql('idempotency', {
  rows: isInScopeSql('caller_id', 'callers'),
  privileges: 'SELECT, INSERT, DELETE',
});

/** How long an answer is stored, as a PostgreSQL interval. */
const LIFETIME = '24 hours';

/** SQL condition on a stored answer: it has not expired. The purge deletes expired answers later. */
export const ANSWER_IS_LIVE = `created_at > now() - interval '${LIFETIME}'`;
const ANSWER_IS_EXPIRED = `created_at <= now() - interval '${LIFETIME}'`;

export const purgeIdempotency = definePurge(
  'idempotency_purge',
  `DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
     SELECT ctid FROM idempotency WHERE ${ANSWER_IS_EXPIRED} ORDER BY created_at LIMIT ${PURGE_BATCH_ROWS}))`,
);

/**
 * The migrations that let the purge find expired answers by a B-tree index. A BRIN index finds them only while rows of one
 * age are adjacent, and new rows fill the space of purged ones. The table is not partitioned by day: the caller chooses the
 * key, so that no partition of a day could refuse a key that is stored in another.
 * @param since the migration that created the table
 */
export function answersByAgeMigrations(since: Migration): Migration[] {
  return [
    concurrentIndexMigration(
      'AnswersByAge1765200000006',
      'idempotency_created',
      'idempotency (created_at)',
    ),
    sqlMigration('AnswersWithoutBrin1765200000007', {
      // Names the table, so that the migration waits for its VACUUM.
      up: ['ALTER TABLE idempotency SET (fillfactor = 100)', 'DROP INDEX idempotency_age'],
      compatibility: { since },
    }),
  ];
}

/**
 * The head of an INSERT, for a service's own statement that stores an answer together with its effect:
 * one round trip instead of two. A SELECT of these five columns must follow.
 */
export const insertStoredAnswerSql =
  'INSERT INTO idempotency (caller_id, operation, key, request_digest, response)';

/**
 * SQL condition for the same statement, on the rows that the statement is about to lock: true where
 * `key` is null or has no live answer. The condition also marks the request as in progress, before the
 * statement waits for a row lock. The arguments are SQL expressions of type text: parameters in one
 * statement and columns in another, so this condition cannot be a constant.
 */
export function hasNoStoredAnswerSql(callerId: string, operation: string, key: string): string {
  return `NOT EXISTS (
      SELECT FROM idempotency WHERE caller_id = ${callerId}
        AND operation = ${operation} AND key = ${key} AND ${ANSWER_IS_LIVE}
    )
    AND (${key} IS NULL OR ${markInProgressSql(callerId, operation, key)})`;
}

const selectAnswer = defineStatement<{ request_digest: Buffer; response: Buffer; live: boolean }>(
  'idempotency_find',
  `SELECT request_digest, response, ${ANSWER_IS_LIVE} AS live FROM idempotency
   WHERE caller_id = $1 AND operation = $2 AND key = $3`,
);

const deleteExpired = defineStatement(
  'idempotency_delete_expired',
  `DELETE FROM idempotency
   WHERE caller_id = $1 AND operation = $2 AND key = $3 AND NOT ${ANSWER_IS_LIVE}`,
);

const insertAnswer = defineStatement(
  'idempotency_store',
  `${insertStoredAnswerSql}
   SELECT $1, $2, $3, $4, $5 WHERE ${markInProgressSql('$1::text', '$2::text', '$3::text')}`,
);

/**
 * The live answer stored under this key, or undefined. An expired answer is deleted, so that the next
 * one can be stored. Throws the fault `idempotency_key_reused` when the answer belongs to a different
 * request.
 */
export async function findStoredAnswer(
  db: Queryable,
  idempotency: CallIdempotency,
): Promise<Buffer | undefined> {
  const { callerId, operation, key } = idempotency;
  const [row] = await selectAnswer.run(db, [callerId, operation, key]);
  if (!row) return undefined;
  if (!row.live) {
    await deleteExpired.run(db, [callerId, operation, key]);
    return undefined;
  }
  if (!isSameRequest(idempotency, row.request_digest)) {
    throw invalid(
      'idempotency_key_reused',
      'This Idempotency-Key was used before with a different request.',
    );
  }
  return row.response;
}

function isSameRequest({ requestDigest, otherDigests }: CallIdempotency, stored: Buffer): boolean {
  return (
    requestDigest.equals(stored) || (otherDigests?.().some((it) => it.equals(stored)) ?? false)
  );
}

/**
 * Stores the answer in the transaction of its effect. While a duplicate request's transaction has
 * stored an answer and not ended, this call waits; once that transaction commits, this call rejects
 * with an `isDuplicateRequest` error.
 */
export async function storeAnswer(
  tx: Queryable,
  { callerId, operation, key, requestDigest }: CallIdempotency,
  response: Uint8Array,
): Promise<void> {
  await insertAnswer.run(tx, [callerId, operation, key, requestDigest, response]);
}

/** Whether a write was refused because an answer is stored under its key already, live or expired. */
export function isDuplicateRequest(error: unknown): boolean {
  return isUniqueViolation(error, PRIMARY_KEY);
}

/** The answer of a write that has just run, or the stored answer of a write that ran before. */
export type Outcome<T> = { replayed: false; answer: T } | { replayed: true; answer: Buffer };

/**
 * Runs a write at most once per key. `write` must store its answer in the transaction of its effect;
 * a request whose answer is stored already, or is stored by a faster duplicate, gets that answer, also where `write`
 * throws a fault that refuses the request.
 * Without `idempotency`, `write` just runs. Throws the faults of `findStoredAnswer` and
 * `refuseDuplicateInProgress`, and what `write` throws.
 */
export async function answerOnce<T extends NonNullable<unknown>>(
  db: Queryable,
  idempotency: CallIdempotency | undefined,
  write: () => Promise<T>,
): Promise<Outcome<T>> {
  const storedAnswer = idempotency && (await findStoredAnswer(db, idempotency));
  if (storedAnswer) return { replayed: true, answer: storedAnswer };
  // There is an outcome, since `write` never resolves to undefined.
  return writeFirst(db, idempotency, write) as Promise<Outcome<T>>;
}

/** The second attempt follows a collision with an expired answer. One that collides again finds the answer of its duplicate. */
const MAX_ATTEMPTS = 3;

/**
 * As `answerOnce`, for a write whose statement checks `hasNoStoredAnswerSql` itself: only a repeated
 * request pays for the query of the stored answer. `write` resolves to undefined where it wrote
 * nothing. Undefined where `write` wrote nothing and no answer is stored.
 */
export async function writeFirst<T extends NonNullable<unknown>>(
  db: Queryable,
  idempotency: CallIdempotency | undefined,
  write: () => Promise<T | undefined>,
): Promise<Outcome<T> | undefined> {
  const attempt = async (): Promise<Outcome<T> | undefined> => {
    const answer = await write();
    return answer === undefined ? undefined : { replayed: false, answer };
  };
  if (!idempotency) return attempt();
  for (let attempts = 1; ; attempts += 1) {
    let isDuplicate = false;
    try {
      const written = await attempt();
      if (written) return written;
    } catch (error) {
      // In this order: a duplicate that is no longer in progress has stored its answer, or never will. One that waits for its
      // row's turn, or for another service, has not marked itself yet, and is not seen.
      await refuseDuplicateInProgress(db, idempotency, error);
      const replayed = isRefusal(error) && (await findStoredAnswer(db, idempotency));
      if (replayed) return { replayed: true, answer: replayed };
      if (!isDuplicateRequest(error) || attempts === MAX_ATTEMPTS) throw error;
      isDuplicate = true;
    }
    const storedAnswer = await findStoredAnswer(db, idempotency);
    if (storedAnswer) return { replayed: true, answer: storedAnswer };
    // A write that collided with an expired answer, which `findStoredAnswer` has deleted, runs again. It may then collide with
    // the answer of a duplicate that did the same.
    if (!isDuplicate) return undefined;
  }
}
