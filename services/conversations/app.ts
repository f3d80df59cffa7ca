/** The conversations service: the comments of the retailer and of the creditor on each submission. */
import { startRotation } from '@creditlane/crypto/rotation';
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { startRetention } from '@creditlane/postgres/retention';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { connectPeer } from '@creditlane/rpc/peer-client';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type { ServiceContext, WithCalls, WithDatabase } from '@creditlane/service/define-service';
import { conversationsRoutes } from './rpc.ts';
import type { SETTINGS } from './settings.ts';
import { sealedTables } from './store/sealed-tables.ts';

type ConversationsContext = ServiceContext<typeof SETTINGS> &
  WithDatabase &
  WithCalls<'applications'>;

/**
 * Starts to wrap every comment with the key ring's current key, and returns the routes to mount.
 * @throws UnknownKeyError when the ring lacks the key of a comment
 */
export async function startConversations({
  settings,
  process,
  database,
  endpoints,
  signer,
}: ConversationsContext) {
  const { log, metrics, closers, health } = process;
  const { keyRing } = settings;
  const { pool, requests } = database;

  closers.own('conversations rotation', await startRotation(keyRing, sealedTables(pool), log));
  const purges = [purgeIdempotency];
  closers.own('conversations retention', startRetention({ pool, log, purges }));

  const applications = connectPeer(ApplicationsService, 'applications', {
    endpoints,
    signer,
    closers,
    // Optional: only new comments need the applications service, and conversations are read without it.
    health: health.optional,
    metrics,
  });
  const deps = { ...settings, requests, applications, clock: systemClock, newId, log };
  return { routes: [conversationsRoutes(deps)] };
}
