// The integrations service: integrations, their keys, permissions, grants and webhook destinations.
import { rewrapTable } from '@creditlane/crypto/rotation';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { startRetention } from '@creditlane/postgres/retention';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import { KeptAnswers } from './kept-answers.ts';
import { accessRoutes, destinationsRoutes, integrationsRoutes } from './rpc.ts';
import type { IntegrationsContext } from './service.ts';
import { Store } from './store.ts';

/** The running service. It ends with the process's closers. */
export interface Integrations {
  routes: ServiceRoutes[];
}

/** Wraps all that is sealed with the key ring's current key, and returns the routes to mount. */
export async function startIntegrations({
  settings,
  process,
  database,
  clock = systemClock,
}: IntegrationsContext & { clock?: Clock }): Promise<Integrations> {
  const { log, closers } = process;
  const { platformKeys, keyRing, destinations } = settings;

  const store = new Store(database);
  const answers = new KeptAnswers(database, keyRing);
  const rewrapped = (await rewrapTable(keyRing, store)) + (await rewrapTable(keyRing, answers));
  if (rewrapped > 0) log.info({ rewrapped }, 'secrets and answers wrapped with the current key');

  const { pool } = database;
  const retention = startRetention({ pool, log, purges: [purgeIdempotency] });
  closers.add('integrations retention', () => retention.close());

  const deps = { store, answers, keyRing, platformKeys, destinations, clock, newId };
  return { routes: [integrationsRoutes(deps), accessRoutes(deps), destinationsRoutes(deps)] };
}
