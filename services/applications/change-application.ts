/** Changes an application under its lock, once for each idempotency key. */
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { answerCall, type StoreAnswer } from '@creditlane/idempotency/answer-call';
import { markInProgress } from '@creditlane/idempotency/duplicate-requests';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call } from '@creditlane/rpc/call';
import { applicationNotFound } from '@creditlane/rpc/submission-call';
import { lockApplication } from './store/applications.ts';

/** Changes what `lock` has locked, and stores the answer to which it resolves. */
type Change<D extends DescMessage, Locked> = (
  tx: Queryable,
  locked: Locked,
  store: StoreAnswer<D>,
) => Promise<MessageShape<D>>;

/**
 * Changes a locked application in a transaction, once for each idempotency key. `change` stores the answer
 * before it checks rules that its own effect would violate: a duplicate request then waits for the stored
 * answer, and is not refused.
 *
 * @throws Fault `application_not_found`, a fault of the idempotency key, or what `change` throws
 */
export function changeApplication<D extends DescMessage>(
  db: ScopedPool,
  call: Call,
  schema: D,
  { applicationId, retailerId }: { applicationId: string; retailerId: string },
  change: Change<D, { archived: boolean }>,
): Promise<MessageShape<D>> {
  const lock = async (tx: Queryable) => {
    const locked = await lockApplication(tx, applicationId, retailerId);
    if (!locked) throw applicationNotFound();
    return locked;
  };
  return changeLocked(db, call, schema, applicationId, lock, change);
}

/** As `changeApplication`, for a change that takes the lock and reads what it needs in a statement of its own. */
export function changeLocked<D extends DescMessage, Locked>(
  db: ScopedPool,
  call: Call,
  schema: D,
  applicationId: string,
  lock: (tx: Queryable) => Promise<Locked>,
  change: Change<D, Locked>,
): Promise<MessageShape<D>> {
  return answerCall(db, call, schema, (store) =>
    inTransaction(db.onRow(applicationId), async (tx) => {
      // The request is marked before it waits for the application's lock, so that a duplicate request
      // whose own wait times out recognises this one. A request that waits for its row's
      // turn is not marked yet.
      await markInProgress(tx, call.idempotency);
      return await change(tx, await lock(tx), store);
    }),
  );
}
