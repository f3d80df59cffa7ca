/** DestinationsService: tells the webhook dispatcher which destinations receive an event, and their secrets. */
import { unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Clock } from '@creditlane/runtime/clock';
import {
  findDestinations,
  findRecipients,
  findRecipientsOf,
  type RecipientRow,
} from '../store/destinations.ts';
import type { DestinationRow } from '../tables.ts';
import { secretContext } from './destination.ts';

export interface DestinationsDeps {
  database: Database;
  /** Opens the signing secrets. */
  keyRing: KeyRing;
  clock: Clock;
}

/** The routes of DestinationsService to mount. */
export function destinationsRoutes({ database, keyRing, clock }: DestinationsDeps): ServiceRoutes {
  return implement(
    DestinationsService,
    translateDatabaseErrors({
      async findRecipients({ pairs }) {
        const byPair = await findRecipients(database.pool, pairs);
        return { byPair: byPair.map((rows) => ({ recipients: rows.map(toRecipient) })) };
      },

      async findIntegrationRecipients({ integrationIds }) {
        const rows = await findRecipientsOf(database.pool, integrationIds);
        return { byIntegration: rows.map((row) => ({ recipients: row.map(toRecipient) })) };
      },

      async getDestinations({ destinationIds }) {
        const rows = await findDestinations(database, destinationIds, clock());
        const destinations = rows.map((row) => ({
          destinationId: row.id,
          integrationId: row.integrationId,
          url: row.url,
          revision: row.revision,
          secrets: unsealSecrets(keyRing, row),
        }));
        return { destinations };
      },
    }),
  );
}

/** The secrets that sign the destination's webhooks, newest first. */
function unsealSecrets(keyRing: KeyRing, row: DestinationRow): Buffer[] {
  const { id, integrationId, sealedSecret, previousSecrets } = row;
  const newest = unseal(keyRing, sealedSecret, secretContext('destinations', id, integrationId));
  const previous = previousSecrets.map((secret) =>
    unseal(
      keyRing,
      secret.sealedSecret,
      secretContext('previous_secrets', secret.id, integrationId),
    ),
  );
  return [newest, ...previous];
}

function toRecipient({ destination_id, revision }: RecipientRow) {
  return { destinationId: destination_id, revision };
}
