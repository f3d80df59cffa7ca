// The applications service: retailers with their groups and users, creditors, applications with their applicants, and submissions.
import { rewrapTable } from '@creditlane/crypto/rotation';
import type { EventBus } from '@creditlane/events/bus';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { type Relay, startRelay } from '@creditlane/messaging/relay';
import { openDatabase } from '@creditlane/postgres/database';
import { startRetention } from '@creditlane/postgres/retention';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { Process } from '@creditlane/runtime/run';
import type { ApplicationsConfig } from './config.ts';
import { directoryRoutes } from './directory-rpc.ts';
import { applications1763700000000 } from './migrations/0001-applications.ts';
import { applicationsRoutes } from './rpc.ts';
import { Store } from './store.ts';
import { TABLES } from './tables.ts';

const NAME = 'applications';

export interface ApplicationsDeps {
  process: Process;
  bus: EventBus;
  clock?: Clock;
}

/** The running service. It ends with the process's closers. */
export interface Applications {
  routes: ServiceRoutes[];
  relay: Relay;
  /** Resolves once every event written so far is published. */
  settled(): Promise<void>;
}

/**
 * Opens the database, brings every applicant under the key ring's current key, begins to publish
 * events, and gives what is to be mounted.
 */
export async function startApplications(
  config: ApplicationsConfig,
  { process, bus, clock = systemClock }: ApplicationsDeps,
): Promise<Applications> {
  const { log, metrics, closers, health } = process;
  const { keyRing, digestKey } = config;
  const database = await openDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    lockTimeoutMs: config.lockTimeoutMs,
    name: NAME,
    log,
    metrics,
    entities: TABLES,
    migrations: [applications1763700000000],
  });
  closers.add('applications database', () => database.close());
  health.add('applications database', () => database.ready());

  const store = new Store(database, keyRing);
  const rewrapped = await rewrapTable(keyRing, store);
  if (rewrapped > 0) log.info({ rewrapped }, 'applicants wrapped with the current key');

  const { pool } = database;
  const retention = startRetention({ pool, log, purges: [purgeIdempotency] });
  closers.add('applications retention', () => retention.close());
  const relay = startRelay({ pool, bus, source: NAME, log, metrics });
  closers.add('applications relay', () => relay.close());

  const wakeRelay = () => relay.wake();
  const routes = [
    applicationsRoutes({ store, digestKey, clock, newId, wakeRelay }),
    directoryRoutes(store),
  ];
  return { routes, relay, settled: () => relay.settled() };
}
