/** Submits an application to creditors: checks the request, writes the submissions once, and answers a repetition. */

import type { KeyRing } from '@creditlane/crypto/key-ring';
import { withKeyedDigest } from '@creditlane/idempotency/keyed-digest';
import { appendToOutbox } from '@creditlane/messaging/outbox';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import {
  type Application,
  ApplicationSchema,
  ApplicationStatus,
} from '@creditlane/proto/applications/v1/application';
import type { SubmitApplicationRequest } from '@creditlane/proto/applications/v1/applications_service';
import type { Call } from '@creditlane/rpc/call';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { changeApplication } from '../change-application.ts';
import { defaultExpiry } from '../consents/consent.ts';
import { applicationSubmitted } from '../events.ts';
import { retailerOf } from '../scope.ts';
import { insertSubmittedConsents, readDatabaseTime } from '../store/consents.ts';
import { insertSubmissions, readSubmissionFacts } from '../store/submissions.ts';
import { answerToStore, loadStoredAnswer } from '../stored-application.ts';
import { checkSubmission } from './submission.ts';
import { readWorksheet } from './worksheet.ts';

export interface SubmitApplicationDeps {
  requests: RequestPool;
  /** Opens the sealed applicants of the answer. */
  keyRing: KeyRing;
  /** The HMAC key for the digests of requests that have an idempotency key. */
  digestKeys: Renewed<Keys>;
  clock: Clock;
  /** Makes the relay publish the events without waiting for its next poll. */
  wakeRelay(): void;
}

/**
 * Submits an application to creditors, all of them or none, with an event for each. A request repeated
 * with its idempotency key writes nothing and gets the first answer.
 *
 * @param request with each creditor once
 * @throws Fault `application_not_found`, or a fault of `checkSubmission`
 */
export async function submitApplication(
  deps: SubmitApplicationDeps,
  request: SubmitApplicationRequest,
  call: Call,
): Promise<Application> {
  const { applicationId, creditorIds, consents, submittedByUserId: userId } = request;
  const worksheet = readWorksheet(request.worksheet);
  const retailerId = retailerOf(call.identity);
  const submittedAt = deps.clock();
  const db = deps.requests.of(call);
  const begunAt = await readDatabaseTime(db);

  const keyed = withKeyedDigest(call, deps.digestKeys);
  const target = { applicationId, retailerId };
  const schema = ApplicationSchema;
  const stored = await changeApplication(db, keyed, schema, target, async (tx, locked, store) => {
    const facts = await readSubmissionFacts(tx, applicationId, userId, creditorIds);
    const submitted = { applicationId, status: ApplicationStatus.SUBMITTED };
    const allCreditorIds = [...facts.submittedCreditorIds, ...creditorIds];
    const answer = answerToStore(submitted, allCreditorIds);
    // The answer is stored before the rules are checked, so that a duplicate request gets the stored
    // answer. Later it would be refused because the application is submitted already.
    await store(tx, answer);
    checkSubmission({ ...request, worksheet }, { ...facts, ...locked });

    const submission = { applicationId, creditorIds, worksheet, submittedAt };
    const by = { userId, integrationId: call.identity.subject };
    await insertSubmissions(tx, { ...submission, ...by });
    const expiresAt = defaultExpiry(submittedAt);
    await insertSubmittedConsents(tx, { consents, ...by, submittedAt, begunAt, expiresAt });
    const events = applicationSubmitted({ ...submission, retailerId }, call.traceparent);
    await appendToOutbox(tx, events);
    return answer;
  });
  deps.wakeRelay();
  return loadStoredAnswer(db, deps.keyRing, retailerId, stored);
}
