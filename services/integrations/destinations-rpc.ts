/** DestinationsService: tells the webhook dispatcher which destinations receive an event, and their secrets. */
import { unseal } from '@creditlane/crypto/envelope';
import type { KeyRing } from '@creditlane/crypto/key-ring';
import type { Database } from '@creditlane/postgres/database';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { secretContext } from './destination.ts';
import { findDestinations, findRecipients, type RecipientRow } from './store/destinations.ts';

export interface DestinationsDeps {
  database: Database;
  /** Opens the signing secrets. */
  keyRing: KeyRing;
}

/** The routes of DestinationsService to mount. */
export function destinationsRoutes({ database, keyRing }: DestinationsDeps): ServiceRoutes {
  return implement(
    DestinationsService,
    translateDatabaseErrors({
      async findRecipients({ pairs }) {
        const byPair = await findRecipients(database.pool, pairs);
        return { byPair: byPair.map((rows) => ({ recipients: rows.map(toRecipient) })) };
      },

      async getDestinations({ destinationIds }) {
        const rows = await findDestinations(database, destinationIds);
        const destinations = rows.map(({ id, integrationId, url, sealedSecret, revision }) => ({
          destinationId: id,
          integrationId,
          url,
          revision,
          secrets: [unseal(keyRing, sealedSecret, secretContext(id, integrationId))],
        }));
        return { destinations };
      },
    }),
  );
}

function toRecipient({ destination_id, revision }: RecipientRow) {
  return { destinationId: destination_id, revision };
}
