/** The integrations service: integrations, their keys, rate limits, grants, enablement and webhook destinations. */
import { startRotation } from '@creditlane/crypto/rotation';
import { DESTINATION_USABLE_MS } from '@creditlane/egress-rules/destination-url';
import { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { outboxRoutes } from '@creditlane/messaging/reconciliation/written-events';
import { startRelay } from '@creditlane/messaging/relay';
import { platformActsRoutes } from '@creditlane/platform-acts/platform-acts';
import { startRetention } from '@creditlane/postgres/retention';
import { DirectoryService } from '@creditlane/proto/applications/v1/directory_service';
import { connectPeer } from '@creditlane/rpc/peer-client';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type {
  ServiceContext,
  WithBus,
  WithCalls,
  WithDatabase,
} from '@creditlane/service/define-service';
import { accessRoutes } from './access-rpc.ts';
import { destinationsRoutes } from './destinations/destinations-rpc.ts';
import { enablementRoutes } from './enablement/enablement-rpc.ts';
import { integrationsRoutes } from './rpc.ts';
import type { SETTINGS } from './settings.ts';
import { purgePreviousSecrets } from './store/previous-secrets.ts';
import { purgeRateLimits } from './store/rate-limits.ts';
import { purgeRetailerEnablements } from './store/retailer-enablements.ts';
import { sealedTables } from './store/sealed-tables.ts';

/** The source of the service's events. */
const SERVICE = 'integrations';

export type IntegrationsContext = ServiceContext<typeof SETTINGS> &
  WithDatabase &
  WithBus &
  WithCalls<'applications'>;

/**
 * Starts to wrap every secret, configuration and stored answer with the key ring's current key, starts publishing
 * events, and returns the routes to mount.
 * @param destinationUsableMs how long a change of a destination is answered after it is committed; a test may shorten it
 * @throws UnknownKeyError when the ring lacks the key of one of them
 */
export async function startIntegrations(
  { settings, process, database, bus, endpoints, signer }: IntegrationsContext,
  destinationUsableMs = DESTINATION_USABLE_MS,
) {
  const { log, metrics, closers, health } = process;
  const { keyRing } = settings;

  const { pool, requests } = database;
  const answers = new SealedAnswers(pool, keyRing);
  const rotation = await startRotation(keyRing, sealedTables(pool, keyRing), log);
  closers.own('integrations rotation', rotation);

  const purges = [
    purgeIdempotency,
    purgePreviousSecrets,
    purgeRetailerEnablements,
    purgeRateLimits,
  ];
  closers.own('integrations retention', startRetention({ pool, log, purges }));

  const relay = startRelay({ database, bus, source: SERVICE, log, metrics });
  closers.own('integrations relay', relay);
  const directory = connectPeer(DirectoryService, 'applications', {
    endpoints,
    signer,
    closers,
    // Optional: only a retailer's enabling of an integration needs the applications service.
    health: health.optional,
    metrics,
  });

  const wakeRelay = () => relay.wake();
  const deps = { ...settings, requests, answers, directory, clock: systemClock, newId, wakeRelay };
  const routes = [
    integrationsRoutes({ ...deps, destinationUsableMs }),
    accessRoutes({ ...deps, database }),
    enablementRoutes({ ...deps, owner: pool, log }),
    destinationsRoutes({ ...deps, database, log, metrics }),
    outboxRoutes({ pool }),
    platformActsRoutes(pool),
  ];
  return { routes, settled: () => relay.settled() };
}
