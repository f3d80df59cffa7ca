/** The stored answers of requests that create or change an application. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import { markInProgress } from '@creditlane/idempotency/duplicate-requests';
import { answerOnce, type Outcome } from '@creditlane/idempotency/stored-answers';
import type { ScopedPool } from '@creditlane/postgres/query';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { type Application, ApplicationSchema } from '@creditlane/proto/applications/v1/application';
import type { CallIdempotency } from '@creditlane/rpc/call';
import { applicationNotFound } from './scope.ts';
import { findApplication, lockApplication } from './store/applications.ts';

/**
 * The answer as it is stored: the application's id, status and creditors. Applicants are left out, so
 * that the sealed applicants remain their only copy.
 */
export function encodeStoredAnswer(
  { applicationId, status }: Pick<Application, 'applicationId' | 'status'>,
  creditorIds: readonly string[] = [],
): Uint8Array {
  const submissions = creditorIds.map((creditorId) => ({ creditorId }));
  return toBinary(
    ApplicationSchema,
    create(ApplicationSchema, { applicationId, status, submissions }),
  );
}

/**
 * Loads the application of a stored answer, with the status and the submissions that it had when the
 * answer was stored. Throws the fault `application_not_found` for another retailer's application.
 */
export async function loadStoredAnswer(
  db: Queryable,
  keyRing: KeyRing,
  retailerId: string,
  storedAnswer: Uint8Array,
): Promise<Application> {
  const { applicationId, status, submissions } = fromBinary(ApplicationSchema, storedAnswer);
  const application = await findApplication(db, keyRing, applicationId, retailerId);
  if (!application) throw applicationNotFound();
  const creditorIds = new Set(submissions.map(({ creditorId }) => creditorId));
  return create(ApplicationSchema, {
    ...application,
    status,
    submissions: application.submissions.filter(({ creditorId }) => creditorIds.has(creditorId)),
  });
}

/**
 * Changes a locked application in a transaction, once for each idempotency key. `change` stores the answer
 * before it checks rules that its own effect would violate: a duplicate request then waits for the stored
 * answer, and is not refused.
 *
 * @throws Fault `application_not_found`, a fault of the idempotency key, or what `change` throws
 */
export function changeOnce(
  db: ScopedPool,
  idempotency: CallIdempotency | undefined,
  { applicationId, retailerId }: { applicationId: string; retailerId: string },
  change: (tx: Queryable, locked: { archived: boolean }) => Promise<Uint8Array>,
): Promise<Outcome<Uint8Array>> {
  const lock = async (tx: Queryable) => {
    const locked = await lockApplication(tx, applicationId, retailerId);
    if (!locked) throw applicationNotFound();
    return locked;
  };
  return changeLockedOnce(db, applicationId, idempotency, lock, change);
}

/** As `changeOnce`, for a change that takes the lock and reads what it needs in a statement of its own. */
export function changeLockedOnce<Locked>(
  db: ScopedPool,
  applicationId: string,
  idempotency: CallIdempotency | undefined,
  lock: (tx: Queryable) => Promise<Locked>,
  change: (tx: Queryable, locked: Locked) => Promise<Uint8Array>,
): Promise<Outcome<Uint8Array>> {
  return answerOnce(db, idempotency, () =>
    inTransaction(db.onRow(applicationId), async (tx) => {
      // The request is marked before it waits for the application's lock, so that a duplicate request
      // whose own wait times out recognises this one. A request that waits for its row's
      // turn is not marked yet.
      await markInProgress(tx, idempotency);
      return await change(tx, await lock(tx));
    }),
  );
}
