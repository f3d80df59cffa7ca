/** The webhook dispatcher: tells the integrations' own servers what was decided, signed and in order. */
import { purgeInbox } from '@creditlane/messaging/retention';
import { startRetention } from '@creditlane/postgres/retention';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { Destinations, SERVICE } from './destinations/destinations.ts';
import { Measures } from './dispatcher-metrics.ts';
import { createConsumer } from './intake/consumer.ts';
import { webhooksRoutes } from './rpc.ts';
import { startSending } from './sending/sending.ts';
import type { WebhookDispatcherContext } from './service.ts';
import { findUnsettled } from './store/deliveries.ts';
import { purgeDeliveries, purgeMessages } from './store/retention.ts';

/** The running service. It ends with the process's closers. */
export interface WebhookDispatcher {
  routes: ServiceRoutes[];
  /** Resolves when nothing is due and nothing is under way; what is planned for later may remain. */
  settled(): Promise<void>;
  /** When the next attempt is planned; `undefined` when there is none. */
  nextAttemptAt(): Promise<Date | undefined>;
}

/** Resumes the deliveries that are due, and consumes decision events from the bus. */
export async function startWebhookDispatcher({
  settings,
  process,
  database,
  bus,
  endpoints,
  signer,
}: WebhookDispatcherContext): Promise<WebhookDispatcher> {
  const { log, metrics, closers, health } = process;
  const { pool } = database;

  const destinations = new Destinations({
    target: endpoints.integrations,
    signer,
    closers,
    // Webhooks wait for it; who asks about deliveries does not.
    health: health.optional,
    metrics,
    cacheMs: settings.destinationsCacheMs,
  });
  const measures = new Measures(metrics);
  const purges = [purgeInbox, purgeDeliveries, purgeMessages];
  const retention = startRetention({ pool, log, purges });
  closers.add(`${SERVICE} retention`, () => retention.close());
  const sending = startSending(settings, { pool, log, destinations, measures });
  closers.add(`${SERVICE} sending`, () => sending.close());

  const { sender, claimer } = sending;
  const { leaseMs } = settings;
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
