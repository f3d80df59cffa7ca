/** Sets the webhook destination of an integration. */
import { seal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { EgressPolicy } from '@creditlane/egress-rules/destination-url';
import type { Database } from '@creditlane/postgres/database';
import type { SetDestinationRequest } from '@creditlane/proto/integrations/v1/integrations_service';
import type { Clock } from '@creditlane/runtime/clock';
import { requireIntegration } from '../integration.ts';
import { saveDestination } from '../store/destinations.ts';
import { checkDestinationUrl, makeSigningSecret, secretContext } from './destination.ts';

export interface SetDestinationDeps {
  database: Database;
  /** Seals the signing secret. */
  keyRing: KeyRing;
  /** The URLs that a destination may have. */
  destinations: EgressPolicy;
  clock: Clock;
  newId: () => string;
}

/**
 * Sets the URL. The first setting makes the signing secret and is the only one that resolves to the
 * secret's text; later ones resolve to an empty text.
 *
 * @throws Fault `invalid_destination` or `integration_not_found`
 */
export async function setDestination(
  { database, keyRing, destinations, clock, newId }: SetDestinationDeps,
  { integrationId, url }: SetDestinationRequest,
): Promise<{ destinationId: string; secret: string }> {
  checkDestinationUrl(url, destinations);
  await requireIntegration(database, integrationId);

  const secret = makeSigningSecret();
  const id = newId();
  const saved = await saveDestination(database, {
    id,
    integrationId,
    url,
    sealedSecret: seal(keyRing, secret.bytes, secretContext('destinations', id, integrationId)),
    sealedWith: keyRing.currentId,
    createdAt: clock(),
  });
  return { destinationId: saved.id, secret: saved.isNew ? secret.text : '' };
}
