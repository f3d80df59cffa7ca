/** The applications service: retailers with their users, creditors, applications with applicants, submissions. */
import { startRotation } from '@creditlane/crypto/rotation';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { outboxRoutes } from '@creditlane/messaging/reconciliation/written-events';
import { startRelay } from '@creditlane/messaging/relay';
import { platformActsRoutes } from '@creditlane/platform-acts/platform-acts';
import { startRetention } from '@creditlane/postgres/retention';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { ServiceContext, WithBus, WithDatabase } from '@creditlane/service/define-service';
import { startConversion } from './applicant/convert-sealed-rows.ts';
import { KeyUse } from './applicant/key-use.ts';
import { consentsRoutes } from './consents/consents-rpc.ts';
import { directoryRoutes } from './directory/directory-rpc.ts';
import { applicationsRoutes } from './rpc.ts';
import type { SETTINGS } from './settings.ts';
import { purgeExports } from './store/exports.ts';
import { sealedTables } from './store/sealed-tables.ts';

/** The source of the service's events. */
const SERVICE = 'applications';

const KEYS_NOT_USED =
  'applicants have no data keys yet: run --use-data-keys once no replica of the version before is left';

type ApplicationsContext = ServiceContext<typeof SETTINGS> & WithDatabase & WithBus;

/**
 * Starts to wrap the applicants' data keys with the key ring's current key, starts publishing events, and returns
 * the routes to mount.
 * @throws UnknownKeyError when the ring lacks the key of a sealed record
 */
export async function startApplications({
  settings,
  process,
  database,
  bus,
  isAlone = false,
}: ApplicationsContext) {
  const { log, metrics, closers } = process;
  const { keyRing } = settings;
  const { pool, requests, rowTurns } = database;

  closers.own('applications rotation', await startRotation(keyRing, sealedTables(pool), log));
  const keyUse = new KeyUse(pool);
  if (isAlone) await keyUse.begin();
  if (!(await keyUse.hasBegun())) log.warn(KEYS_NOT_USED);
  const deps = { ...settings, requests, owner: pool, rowTurns, clock: systemClock, newId, keyUse };
  const conversion = startConversion({ ...deps, pool, log, metrics });
  closers.own('applications conversion', conversion);
  const purges = [purgeIdempotency, purgeExports];
  closers.own('applications retention', startRetention({ pool, log, purges }));
  const relay = startRelay({ database, bus, source: SERVICE, log, metrics });
  closers.own('applications relay', relay);

  const wakeRelay = () => relay.wake();
  const routes = [
    applicationsRoutes({ ...deps, wakeRelay, log }),
    consentsRoutes(deps),
    directoryRoutes(database),
    outboxRoutes({ pool }),
    platformActsRoutes(pool),
  ];
  return { routes, settled: () => relay.settled() };
}
