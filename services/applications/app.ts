/** The applications service: retailers with their users, creditors, applications with applicants, submissions. */
import { startRotation } from '@creditlane/crypto/rotation';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { outboxRoutes } from '@creditlane/messaging/reconciliation/written-events';
import { type Relay, startRelay } from '@creditlane/messaging/relay';
import { startRetention } from '@creditlane/postgres/retention';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { type Clock, systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { ServiceContext, WithBus, WithDatabase } from '@creditlane/service/define-service';
import { consentsRoutes } from './consents/consents-rpc.ts';
import { directoryRoutes } from './directory/directory-rpc.ts';
import { applicationsRoutes } from './rpc.ts';
import type { SETTINGS } from './settings.ts';
import { purgeExports } from './store/exports.ts';
import { sealedTables } from './store/sealed-tables.ts';

/** The source of the service's events. */
const SERVICE = 'applications';

/** The running service, which the process's closers stop. */
export interface Applications {
  routes: ServiceRoutes[];
  relay: Relay;
  /** Resolves once every event written by now is published. */
  settled(): Promise<void>;
}

type ApplicationsContext = ServiceContext<typeof SETTINGS> & WithDatabase & WithBus;

/**
 * Starts to wrap every applicant and export with the key ring's current key, starts publishing events, and returns
 * the routes to mount.
 * @throws SealError when the ring lacks the key of an applicant or export
 */
export async function startApplications({
  settings,
  process,
  database,
  bus,
  clock = systemClock,
}: ApplicationsContext & { clock?: Clock }): Promise<Applications> {
  const { log, metrics, closers } = process;
  const { keyRing, digestKey } = settings;

  const { pool, requests, rowTurns } = database;
  const rotation = await startRotation(keyRing, sealedTables(pool), log);
  closers.add('applications rotation', () => rotation.close());
  const retention = startRetention({ pool, log, purges: [purgeIdempotency, purgeExports] });
  closers.add('applications retention', () => retention.close());
  const relay = startRelay({ database, bus, source: SERVICE, log, metrics });
  closers.add('applications relay', () => relay.close());

  const wakeRelay = () => relay.wake();
  const deps = { requests, owner: pool, rowTurns, keyRing, digestKey, clock, newId };
  const routes = [
    applicationsRoutes({ ...deps, wakeRelay, log }),
    consentsRoutes(deps),
    directoryRoutes(database),
    outboxRoutes({ pool, clock }),
  ];
  return { routes, relay, settled: () => relay.settled() };
}
