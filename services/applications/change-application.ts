/** Changes an application under its lock, once for each idempotency key. */
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { answerCall, type StoreAnswer } from '@creditlane/idempotency/answer-call';
import { markInProgress } from '@creditlane/idempotency/duplicate-requests';
import type { ScopedPool } from '@creditlane/postgres/row-security/scoped-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import type { Call } from '@creditlane/rpc/call';
import { applicationNotFound } from '@creditlane/rpc/submission';
import { lockApplication } from './store/applications.ts';

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
  change: (
    tx: Queryable,
    locked: { archived: boolean },
    store: StoreAnswer<D>,
  ) => Promise<MessageShape<D>>,
): Promise<MessageShape<D>> {
  return changeInTurn(db, call, schema, applicationId, async (tx, store) => {
    const locked = await lockApplication(tx, applicationId, retailerId);
    if (!locked) throw applicationNotFound();
    return await change(tx, locked, store);
  });
}

/** As `changeApplication`, for a `change` that begins with the lock itself. */
export function changeInTurn<D extends DescMessage>(
  db: ScopedPool,
  call: Call,
  schema: D,
  applicationId: string,
  change: (tx: Queryable, store: StoreAnswer<D>) => Promise<MessageShape<D>>,
): Promise<MessageShape<D>> {
  return answerCall(db, call, schema, (store) =>
    inTransaction(db.onRow(applicationId), async (tx) => {
      // The request is marked before it waits for the application's lock, so that a duplicate request
      // whose own wait times out recognises this one. A request that waits for its row's
      // turn is not marked yet.
      await markInProgress(tx, call.idempotency);
      return await change(tx, store);
    }),
  );
}
