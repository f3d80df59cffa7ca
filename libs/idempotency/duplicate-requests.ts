/**
 * Duplicate requests: requests with the same idempotency key at the same time.
 *
 * Until its transaction ends, a request in progress holds a shared advisory lock that is named after
 * its key. A request that timed out on a row lock finds out by that advisory lock whether a duplicate
 * request is in progress, or whether an unrelated write holds the row. So does a request that was refused: the
 * duplicate may have passed the rule that refused it.
 */
import { isLockTimeout } from '@creditlane/postgres/error-classes';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { conflict, Fault, type FaultKind } from '@creditlane/rpc/fault';

/**
 * SQL condition that is always true, never waits, and marks the request as in progress until the
 * transaction ends. The arguments are SQL expressions of type text: parameters in one statement and
 * columns in another, so this condition cannot be a constant.
 */
export function markInProgressSql(callerId: string, operation: string, key: string): string {
  // pg_try_advisory_xact_lock_shared returns false, not null, while refuseDuplicateInProgress holds the
  // exclusive lock, so IS NOT NULL is always true and only takes the lock.
  return `pg_try_advisory_xact_lock_shared(${lockIdSql(callerId, operation, key)}) IS NOT NULL`;
}

/** Those in progress, and those that look for a duplicate, have different locks of their key. */
type LockOf = 'in progress' | 'looking';

function lockIdSql(
  callerId: string,
  operation: string,
  key: string,
  lockOf: LockOf = 'in progress',
): string {
  const seed = lockOf === 'in progress' ? 0 : 1;
  return `hashtextextended(${callerId} || E'\\n' || ${operation} || E'\\n' || ${key}, ${seed})`;
}

const selectMark = defineStatement(
  'idempotency_mark_in_progress',
  `SELECT WHERE ${markInProgressSql('$1::text', '$2::text', '$3::text')}`,
);

/**
 * Marks the request as in progress, in a transaction that waits for a row lock before it stores its
 * answer. `storeAnswer` marks the request as well. Without `idempotency` nothing happens.
 */
export async function markInProgress(
  tx: Queryable,
  idempotency: CallIdempotency | undefined,
): Promise<void> {
  if (!idempotency) return;
  const { callerId, operation, key } = idempotency;
  await selectMark.run(tx, [callerId, operation, key]);
}

const LOCK_ID = lockIdSql('$1::text', '$2::text', '$3::text');
// Requests of a key look for a duplicate one after the other, under the lock `looking`: each takes the lock `in progress`
// exclusively, which a second one would take for a request in progress. The statement itself releases `in progress`: at the end of a
// transaction PostgreSQL may release `looking` before it, and the next request would find `in progress` still held.
const selectDuplicate = defineStatement<{ in_progress: boolean }>(
  'idempotency_find_duplicate',
  `SELECT CASE WHEN pg_try_advisory_lock(${LOCK_ID}) THEN NOT pg_advisory_unlock(${LOCK_ID}) ELSE true END AS in_progress
   FROM pg_advisory_xact_lock(${lockIdSql('$1::text', '$2::text', '$3::text', 'looking')})`,
);

/** The kinds of faults by which a rule refuses a request. The others say that it could not be handled. */
const REFUSED_BY_RULE: ReadonlySet<FaultKind> = new Set(['invalid', 'not_found', 'conflict']);

/** Whether a rule refused the write. A duplicate request may have met other records, and have an answer. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Fault && REFUSED_BY_RULE.has(error.kind);
}

/**
 * For a write that failed with `error` and whose transaction is over. Throws the fault
 * `idempotency_in_progress` when the write timed out on a lock, or was refused, while a duplicate request is in
 * progress; the write itself changed nothing.
 */
export async function refuseDuplicateInProgress(
  db: Queryable,
  { callerId, operation, key }: CallIdempotency,
  error: unknown,
): Promise<void> {
  if (!isLockTimeout(error) && !isRefusal(error)) return;
  const [duplicate] = await selectDuplicate.run(db, [callerId, operation, key]);
  if (!duplicate?.in_progress) return;
  throw conflict(
    'idempotency_in_progress',
    'An earlier request with this Idempotency-Key is still under way.',
  );
}
