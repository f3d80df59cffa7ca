/** Sets the webhook destination of an integration. */
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { EgressPolicy } from '@creditlane/egress-rules/destination-url';
import type { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { recordAct } from '@creditlane/platform-acts/platform-acts';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import {
  type SetDestinationRequest,
  type SetDestinationResponse,
  SetDestinationResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import type { Clock } from '@creditlane/runtime/clock';
import { integrationRecords } from '../integration.ts';
import { saveDestination } from '../store/destinations.ts';
import { sealedSecrets } from '../store/sealed-tables.ts';
import { checkDestinationUrl, makeSigningSecret } from './destination.ts';

export interface SetDestinationDeps {
  requests: RequestPool;
  answers: SealedAnswers;
  /** Seals the signing secret. */
  keyRing: KeyRing;
  /** The URLs that a destination may have. */
  destinations: EgressPolicy;
  clock: Clock;
  newId: () => string;
}

/**
 * Sets the URL, the event filter and the rate limit, or removes these two. The first setting makes the signing secret and is the
 * only one that resolves to the secret's text; later ones resolve to an empty text. A request repeated with its idempotency key changes
 * nothing and gets the same answer, which is stored sealed for a day.
 *
 * @throws Fault `invalid_destination`, `integration_not_found`, or a fault of the idempotency key
 */
export async function setDestination(
  { requests, answers, keyRing, destinations, clock, newId }: SetDestinationDeps,
  { integrationId, url, events, deliveriesPerSecond }: SetDestinationRequest,
  call: Call,
): Promise<SetDestinationResponse> {
  checkDestinationUrl(url, destinations);
  const db = await integrationRecords(requests, call, integrationId);

  const secret = makeSigningSecret();
  const id = newId();
  const sealed = sealedSecrets.seal(keyRing, secret.bytes, id, integrationId);
  const settings = {
    events: events.length > 0 ? events : null,
    deliveriesPerSecond: deliveriesPerSecond ?? null,
  };
  const row = { id, integrationId, url, ...sealed, ...settings, createdAt: clock() };
  return answers.writeThenStore(db, call, SetDestinationResponseSchema, async (tx) => {
    const saved = await saveDestination(tx, row);
    await recordAct(tx, call, 'DESTINATION_SET', { integrationId });
    return { destinationId: saved.id, secret: saved.isNew ? secret.text : '' };
  });
}
