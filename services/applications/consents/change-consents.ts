/** Records and revokes consents, each once for each idempotency key. */

import { withKeyedDigest } from '@creditlane/idempotency/keyed-digest';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Queryable } from '@creditlane/postgres/statement';
import {
  type RecordConsentRequest,
  type RevokeConsentRequest,
  type StoredConsent,
  StoredConsentSchema,
} from '@creditlane/proto/applications/v1/consents_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import type { Clock } from '@creditlane/runtime/clock';
import type { Renewed } from '@creditlane/runtime/renewed-file';
import type { Keys } from '@creditlane/runtime/setting';
import { changeInTurn } from '../change-application.ts';
import { mayActFor } from '../directory/user.ts';
import { retailerOf } from '../scope.ts';
import {
  findConsent,
  findLastRevocation,
  hasApplicant,
  insertConsent,
  lockApplicant,
  revokeRows,
} from '../store/consents.ts';
import { applicantNotFound, type ConsentFacts, ineligibleUser, newConsent } from './consent.ts';

export interface ChangeConsentsDeps {
  requests: RequestPool;
  /** The HMAC key for the digests of requests that have an idempotency key. */
  digestKeys: Renewed<Keys>;
  clock: Clock;
  newId: () => string;
}

/**
 * Records a consent that an applicant gave. A request repeated with its idempotency key records nothing and gets
 * the first answer.
 *
 * @throws Fault `applicant_not_found`, a fault of `newConsent` or of the idempotency key
 */
export function recordConsent(
  deps: ChangeConsentsDeps,
  request: RecordConsentRequest,
  call: Call,
): Promise<StoredConsent> {
  return changeConsents(deps, request, request.capturedBy, call, async (tx, facts) => {
    const lastRevokedAt = await findLastRevocation(tx, request.applicantId, request.purpose);
    const consent = newConsent(request, { ...facts, lastRevokedAt }, deps.newId(), deps.clock());
    await insertConsent(tx, consent, call.identity.subject);
    return consent;
  });
}

/**
 * Revokes a consent, and with it every other one of the applicant for the same purpose. A consent that is revoked
 * already is answered with the time and the user of its first revocation.
 *
 * @throws Fault `applicant_not_found`, `consent_not_found`, `ineligible_user` or a fault of the idempotency key
 */
export function revokeConsent(
  deps: ChangeConsentsDeps,
  request: RevokeConsentRequest,
  call: Call,
): Promise<StoredConsent> {
  const { consentId, applicantId, revokedBy } = request;
  return changeConsents(deps, request, revokedBy, call, async (tx, { user, retailer }) => {
    if (revokedBy !== '' && !mayActFor(user, retailer)) throw ineligibleUser('/revokedBy');
    const by = { integrationId: call.identity.subject, userId: revokedBy || null };
    const revoked = await revokeRows(tx, { consentId, applicantId }, by);
    const consent = revoked ?? (await findConsent(tx, consentId, applicantId));
    if (!consent) throw notFound('consent_not_found', 'The applicant has no such consent.');
    return consent;
  });
}

async function changeConsents(
  { requests, digestKeys }: ChangeConsentsDeps,
  { applicationId, applicantId }: { applicationId: string; applicantId: string },
  userId: string,
  call: Call,
  change: (tx: Queryable, facts: ConsentFacts) => Promise<StoredConsent>,
): Promise<StoredConsent> {
  const key = { applicationId, applicantId, retailerId: retailerOf(call.identity) };
  const db = requests.of(call);
  // A stored answer is found before the lock, which would find no applicant once the caller's grant was withdrawn.
  if (call.idempotency && !(await hasApplicant(db, key))) throw applicantNotFound();
  const keyed = withKeyedDigest(call, digestKeys);
  return changeInTurn(db, keyed, StoredConsentSchema, applicationId, async (tx, store) => {
    const facts = await lockApplicant(tx, key, userId);
    if (!facts) throw applicantNotFound();
    const answer = await change(tx, facts);
    await store(tx, answer);
    return answer;
  });
}
