import { type Idempotency, rememberAnswer } from '@creditlane/idempotency/stored-answers';
import type { Application } from '@creditlane/proto/applications/v1/application';
import { conflict, type Fault, notFound } from '@creditlane/rpc/fault';
import { answerOutline } from './answer.ts';
import type { Store } from './store.ts';

/** The same for a retailer that is out of the caller's reach and for one that never was. */
export function retailerNotFound(): Fault {
  return notFound('retailer_not_found', 'retailerId names no retailer that you may act for.');
}

/**
 * Writes a new application, whole or not at all, and gives its answer's outline.
 *
 * @throws Fault when there is no such retailer, or it has used the reference number before
 */
export function createApplication(
  store: Store,
  application: Application,
  idempotency: Idempotency | undefined,
): Promise<Uint8Array> {
  const outline = answerOutline(application);
  return store.inTransaction(async (tx) => {
    // First, so that a twin waits for the other's answer here, and not for a reference number taken.
    if (idempotency) await rememberAnswer(tx, idempotency, outline);
    if (!(await store.retailerExists(tx, application.retailerId))) throw retailerNotFound();
    const { takenBy } = await store.add(tx, application);
    if (takenBy !== undefined) {
      throw conflict(
        'reference_number_taken',
        `The retailer has used this referenceNumber for application ${takenBy}.`,
      );
    }
    return outline;
  });
}
