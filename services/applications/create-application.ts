/** Creates an application: checks the request, writes the application once, and answers a repetition. */

import type { KeyRing } from '@creditlane/crypto/key-ring';
import { answerCall } from '@creditlane/idempotency/answer-call';
import { withKeyedDigest } from '@creditlane/idempotency/keyed-digest';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import { type Application, ApplicationSchema } from '@creditlane/proto/applications/v1/application';
import type { CreateApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import { type Fault, fieldFault } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import type { KeyUse } from './applicant/key-use.ts';
import { newApplication } from './application.ts';
import { retailerNotFound, retailerOf } from './scope.ts';
import { insertApplication } from './store/applications.ts';
import { retailerExists } from './store/directory.ts';
import { answerToStore, loadStoredAnswer } from './stored-application.ts';

export interface CreateApplicationDeps {
  requests: RequestPool;
  /** Seals the applicants. */
  keyRing: KeyRing;
  /** The HMAC key for the digests of requests that have an idempotency key. */
  digestKeys: Renewed<Keys>;
  clock: Clock;
  newId: () => string;
  keyUse: KeyUse;
}

/**
 * Writes a new application, whole or not at all. A request repeated with its idempotency key writes
 * nothing and gets the first answer.
 *
 * @throws Fault when the application is invalid, its retailer does not exist or is outside the caller's
 * scope, or the retailer has used the reference number before
 */
export async function createApplication(
  deps: CreateApplicationDeps,
  request: CreateApplicationRequest,
  call: Call,
): Promise<Application> {
  const { keyRing } = deps;
  const db = deps.requests.of(call);
  const retailerId = retailerOf(call.identity);
  if (request.retailerId !== retailerId) throw retailerNotFound();
  const now = deps.clock();
  const application = newApplication(request, now, deps.newId);

  // Before the transaction, which must not wait for a second connection of the pool.
  const usesKeys = await deps.keyUse.hasBegun();
  const sealing = { keyRing, newId: deps.newId, usesKeys };
  const keyed = withKeyedDigest(call, deps.digestKeys);
  const stored = await answerCall(db, keyed, ApplicationSchema, (store) =>
    inTransaction(db, async (tx) => {
      const answer = answerToStore(application);
      // The answer is stored first, so that a duplicate request waits here for the stored answer. Later
      // it would be refused because its reference number is taken.
      await store(tx, answer);
      if (!(await retailerExists(tx, retailerId))) throw retailerNotFound();
      const { takenBy } = await insertApplication(tx, sealing, application, now);
      if (takenBy !== undefined) throw referenceNumberTaken(takenBy);
      return answer;
    }),
  );
  return loadStoredAnswer(db, keyRing, retailerId, stored);
}

function referenceNumberTaken(applicationId: string): Fault {
  return fieldFault('conflict', 'reference_number_taken', {
    pointer: '/referenceNumber',
    message: `is that of the retailer's application ${applicationId}`,
  });
}
