import { create } from '@bufbuild/protobuf';
import {
  announceRequest,
  type Idempotency,
  rememberAnswer,
} from '@creditlane/idempotency/stored-answers';
import { appendToOutbox } from '@creditlane/messaging/outbox';
import { ApplicationStatus, WorksheetSchema } from '@creditlane/proto/applications/v1/application';
import type { SubmitApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import { answerOutline } from './answer.ts';
import { applicationSubmitted } from './events.ts';
import { applicationNotFound } from './scope.ts';
import type { Store } from './store.ts';
import { checkSubmission } from './submission.ts';

/** On whose behalf an application is submitted, and when. */
export interface Submitter {
  integrationId: string;
  retailerId: string;
  idempotency: Idempotency | undefined;
  traceparent: string | undefined;
  now: Date;
}

/**
 * Puts an application in front of creditors, all of them or none, with an event for each, and gives
 * the answer's outline.
 *
 * @param request with its ids in lower case
 * @throws Fault that says why it may not be
 */
export function submitApplication(
  store: Store,
  request: SubmitApplicationRequest,
  { integrationId, retailerId, idempotency, traceparent, now }: Submitter,
): Promise<Uint8Array> {
  const { applicationId, creditorIds, submittedByUserId: userId } = request;
  const { worksheet = create(WorksheetSchema) } = request;
  return store.inTransaction(async (tx) => {
    // Before it waits for the application, so that a twin that holds it up is known for one.
    await announceRequest(tx, idempotency);
    const locked = await store.lock(tx, applicationId, retailerId);
    if (!locked) throw applicationNotFound();
    const facts = await store.readFacts(tx, applicationId, userId, creditorIds);
    const outline = answerOutline({ applicationId, status: ApplicationStatus.SUBMITTED }, [
      ...facts.submittedCreditorIds,
      ...creditorIds,
    ]);
    // Before the rules: a twin of one that was faster gets its answer, and not that it is done already.
    if (idempotency) await rememberAnswer(tx, idempotency, outline);
    checkSubmission(request, { ...facts, ...locked });

    const { applicantIds } = facts;
    const submission = { applicationId, creditorIds, worksheet, submittedAt: now };
    await store.addSubmissions(tx, { ...submission, applicantIds, userId, integrationId });
    await appendToOutbox(tx, applicationSubmitted({ ...submission, retailerId }, traceparent));
    return outline;
  });
}
