// The integrations service: integrations, their keys, permissions, grants and webhook destinations.
import { rewrapTable } from '@creditlane/crypto/rotation';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { openDatabase } from '@creditlane/postgres/database';
import { startRetention } from '@creditlane/postgres/retention';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { Process } from '@creditlane/runtime/run';
import type { IntegrationsConfig } from './config.ts';
import { KeptAnswers } from './kept-answers.ts';
import { integrations1763700000000 } from './migrations/0001-integrations.ts';
import { destinationRevision1763800000000 } from './migrations/0002-destination-revision.ts';
import { accessRoutes, destinationsRoutes, integrationsRoutes } from './rpc.ts';
import { Store } from './store.ts';
import { TABLES } from './tables.ts';

export interface IntegrationsDeps {
  process: Process;
  clock?: Clock;
}

/** The running service. It ends with the process's closers. */
export interface Integrations {
  routes: ServiceRoutes[];
}

/**
 * Opens the database, brings all that is sealed under the key ring's current key, and gives what is to be
 * mounted.
 */
export async function startIntegrations(
  config: IntegrationsConfig,
  { process, clock = systemClock }: IntegrationsDeps,
): Promise<Integrations> {
  const { log, metrics, closers, health } = process;
  const { platformKeys, keyRing, destinations } = config;
  const database = await openDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    name: 'integrations',
    log,
    metrics,
    entities: TABLES,
    migrations: [integrations1763700000000, destinationRevision1763800000000],
  });
  closers.add('integrations database', () => database.close());
  health.add('integrations database', () => database.ready());

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
