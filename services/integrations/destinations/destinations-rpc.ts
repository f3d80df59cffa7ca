/** DestinationsService: tells the webhook dispatcher which destinations receive an event, and their secrets. */
import type { SealContext } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Clock } from '@creditlane/runtime/clock';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import {
  type Destination,
  findDestinations,
  findRecipients,
  findRecipientsOf,
} from '../store/destinations.ts';
import { sealedPreviousSecrets, sealedSecrets } from '../store/sealed-tables.ts';
import { openSecret } from './destination.ts';

export interface DestinationsDeps {
  database: Database;
  log: Log;
  metrics: Metrics;
  /** Opens the signing secrets. */
  keyRing: KeyRing;
  clock: Clock;
}

/** The routes of DestinationsService to mount. */
export function destinationsRoutes(deps: DestinationsDeps): ServiceRoutes {
  const { database, clock } = deps;
  const unsealSecrets = secretsUnsealer(deps);
  return implement(DestinationsService, {
    async findRecipients({ pairs }) {
      const byPair = await findRecipients(database.pool, pairs);
      return { byPair: byPair.map((recipients) => ({ recipients })) };
    },

    async findIntegrationRecipients({ integrationIds, events }) {
      const byIntegration = await findRecipientsOf(database.pool, integrationIds, events);
      return { byIntegration: byIntegration.map((recipients) => ({ recipients })) };
    },

    async getDestinations({ destinationIds }) {
      const rows = await findDestinations(database.pool, destinationIds, clock());
      const destinations = rows.map((row) => ({
        destinationId: row.id,
        integrationId: row.integrationId,
        integrationName: row.integrationName,
        url: row.url,
        revision: row.revision,
        events: row.events ?? [],
        deliveriesPerSecond: row.deliveriesPerSecond ?? undefined,
        readsSin: row.readsSin,
        secrets: unsealSecrets(row),
      }));
      return { destinations };
    },
  });
}

/**
 * Returns a function that opens the secrets that sign a destination's webhooks, newest first. A secret that cannot
 * be opened is left out and reported, so that it fails for its own destination only; without the newest one there
 * are none, because nothing can be signed as the receiver expects.
 */
function secretsUnsealer({ keyRing, log, metrics }: DestinationsDeps) {
  const unreadable = metrics.counter(
    'unreadable_destination_secrets_total',
    'Signing secrets that could not be opened when a webhook was to be signed.',
  );
  const tryUnseal = (destinationId: string, sealed: Uint8Array, context: SealContext): Buffer[] => {
    const secret = openSecret(keyRing, sealed, context);
    if (secret instanceof Buffer) return [secret];
    unreadable.inc();
    const { table } = context;
    log.error({ err: secret, destinationId, table }, 'a signing secret cannot be opened');
    return [];
  };
  return ({ id, integrationId, sealed, previousSecrets }: Destination): Buffer[] => {
    const context = sealedSecrets.context(id, integrationId);
    const newest = tryUnseal(id, sealed, context);
    if (newest.length === 0) return [];
    const previous = previousSecrets.flatMap((secret) => {
      const place = sealedPreviousSecrets.context(secret.id, integrationId);
      return tryUnseal(id, secret.sealed, place);
    });
    return [...newest, ...previous];
  };
}
