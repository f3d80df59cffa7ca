/** The webhook dispatcher: tells the integrations' own servers what was decided, signed and in order. */
import type { EventBus } from '@creditlane/events/bus';
import { purgeInbox } from '@creditlane/messaging/retention';
import { openDatabase } from '@creditlane/postgres/database';
import { startRetention } from '@creditlane/postgres/retention';
import type { Endpoint } from '@creditlane/rpc/client';
import type { TokenSigner } from '@creditlane/rpc/identity';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import type { Process } from '@creditlane/runtime/run';
import type { WebhookDispatcherConfig } from './config.ts';
import { Destinations, SERVICE } from './destinations/destinations.ts';
import { Measures } from './dispatcher-metrics.ts';
import { createConsumer } from './intake/consumer.ts';
import { Webhooks1763700000000 } from './migrations/0001-webhooks.ts';
import { destinationRevisions1763800000000 } from './migrations/0002-destination-revisions.ts';
import { messageTraces1763900000000 } from './migrations/0003-message-traces.ts';
import { webhooksRoutes } from './rpc.ts';
import { startSending } from './sending/sending.ts';
import { findUnsettled } from './store/deliveries.ts';
import { purgeDeliveries, purgeMessages } from './store/retention.ts';
import { TABLES } from './tables.ts';

export interface WebhookDispatcherDeps {
  process: Process;
  bus: EventBus;
  peers: { integrations: Endpoint };
  /** Signs the service's own calls. */
  signer: TokenSigner;
}

/** The running service. It ends with the process's closers. */
export interface WebhookDispatcher {
  routes: ServiceRoutes[];
  /** Resolves when nothing is due and nothing is under way; what is planned for later may remain. */
  settled(): Promise<void>;
  /** When the next attempt is planned; `undefined` when there is none. */
  nextAttemptAt(): Promise<Date | undefined>;
}

/** Opens the database, takes up what is due, and takes decision events in from the bus. */
export async function startWebhookDispatcher(
  config: WebhookDispatcherConfig,
  { process, bus, peers, signer }: WebhookDispatcherDeps,
): Promise<WebhookDispatcher> {
  const { log, metrics, closers, health } = process;
  const database = await openDatabase({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    name: SERVICE,
    log,
    metrics,
    entities: TABLES,
    migrations: [
      Webhooks1763700000000,
      destinationRevisions1763800000000,
      messageTraces1763900000000,
    ],
  });
  closers.add(`${SERVICE} database`, () => database.close());
  health.add(`${SERVICE} database`, () => database.ready());
  const { pool } = database;

  const destinations = new Destinations({
    target: peers.integrations,
    signer,
    closers,
    // Webhooks wait for it; who asks about deliveries does not.
    health: health.optional,
    metrics,
    cacheMs: config.destinationsCacheMs,
  });
  const measures = new Measures(metrics);
  const purges = [purgeInbox, purgeDeliveries, purgeMessages];
  const retention = startRetention({ pool, log, purges });
  closers.add(`${SERVICE} retention`, () => retention.close());
  const sending = startSending(config, { pool, log, destinations, measures });
  closers.add(`${SERVICE} sending`, () => sending.close());

  const { sender, claimer } = sending;
  const { leaseMs } = config;
  const subscription = await bus.subscribe({
    group: SERVICE,
    topics: ['creditlane.decisions.v1'],
    handle: createConsumer({ pool, log, metrics, destinations, sender, claimer, leaseMs }),
  });
  closers.add(`${SERVICE} subscription`, () => subscription.close());
  measures.watch({
    pool,
    inHand: () => sender.inHand,
    breakers: () => sender.breakers(),
  });

  return {
    routes: [webhooksRoutes(database)],
    settled: () => sending.settled(),
    nextAttemptAt: async () => (await findUnsettled(pool)).nextAttemptAt,
  };
}
