/** The integrations service: integrations, their keys, permissions, grants and webhook destinations. */
import { rewrapTable } from '@creditlane/crypto/rotation';
import { SealedAnswers } from '@creditlane/idempotency/sealed-answers';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { startRetention } from '@creditlane/postgres/retention';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { ServiceContext, WithDatabase } from '@creditlane/service/define-service';
import { accessRoutes } from './access-rpc.ts';
import { destinationsRoutes } from './destinations/destinations-rpc.ts';
import { enablementRoutes } from './enablement/enablement-rpc.ts';
import { integrationsRoutes } from './rpc.ts';
import type { SETTINGS } from './settings.ts';
import { SealedSecrets } from './store/destinations.ts';
import { purgePreviousSecrets } from './store/previous-secrets.ts';

/** The running service, which the process's closers stop. */
export interface Integrations {
  routes: ServiceRoutes[];
}

type IntegrationsContext = ServiceContext<typeof SETTINGS> & WithDatabase;

/** Wraps every secret and stored answer with the key ring's current key, and returns the routes to mount. */
export async function startIntegrations({
  settings,
  process,
  database,
  clock = systemClock,
}: IntegrationsContext & { clock?: Clock }): Promise<Integrations> {
  const { log, closers } = process;
  const { platformKeys, keyRing, destinations } = settings;

  const { pool } = database;
  const answers = new SealedAnswers(pool, keyRing);
  const rewrapped =
    (await rewrapTable(keyRing, new SealedSecrets(database, 'destinations'))) +
    (await rewrapTable(keyRing, new SealedSecrets(database, 'previous_secrets'))) +
    (await rewrapTable(keyRing, answers));
  if (rewrapped > 0) log.info({ rewrapped }, 'secrets and answers wrapped with the current key');

  const purges = [purgeIdempotency, purgePreviousSecrets];
  const retention = startRetention({ pool, log, purges });
  closers.add('integrations retention', () => retention.close());

  const deps = { database, answers, keyRing, platformKeys, destinations, clock, newId };
  const routes = [
    integrationsRoutes(deps),
    accessRoutes(deps),
    enablementRoutes(deps),
    destinationsRoutes(deps),
  ];
  return { routes };
}
