/** The webhook dispatcher: sends events to the integrations' own servers, signed and in order. */
import { purgeIdempotency } from '@creditlane/idempotency/stored-answers';
import { startConsumer } from '@creditlane/messaging/consumer';
import { startPartitions } from '@creditlane/postgres/partitions/start-partitions';
import { startRetention } from '@creditlane/postgres/retention';
import { ApplicationsService } from '@creditlane/proto/applications/v1/applications_service';
import { EnablementService } from '@creditlane/proto/integrations/v1/enablement_service';
import { DestinationsService } from '@creditlane/proto/integrations/v1/integrations_service';
import { connectPeer } from '@creditlane/rpc/peer-client';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { systemClock } from '@creditlane/runtime/clock';
import { newId } from '@creditlane/runtime/ids';
import type {
  ServiceContext,
  WithBus,
  WithCalls,
  WithDatabase,
} from '@creditlane/service/define-service';
import { Destinations } from './destinations/destinations.ts';
import { startEndingRemovedDestinations } from './destinations/removed-destinations.ts';
import { DispatcherMetrics } from './dispatcher-metrics.ts';
import { exportFinder, retailerEnablementFinder } from './events/webhook-contents.ts';
import { webhookSources } from './events/webhook-sources.ts';
import { createIntake } from './intake/intake.ts';
import { createSendTestEvent } from './own-deliveries/send-test-event.ts';
import { ReplayJobWorker } from './replay-jobs/replay-job-worker.ts';
import { deliveriesRoutes } from './rpc.ts';
import { startSending } from './sending/start-sending.ts';
import { SERVICE } from './service-name.ts';
import type { SETTINGS } from './settings.ts';
import { purgeBreakers } from './store/breakers.ts';
import { earlierTables } from './store/history/earlier-tables.ts';
import {
  moveEnded,
  PARTITIONS,
  purgeReplayJobs,
  purgesOfRowsWithoutDay,
} from './store/history/retention.ts';
import { findTooFewDeliveries } from './store/intake/expected-deliveries.ts';
import { purgeTestEventLeases } from './store/leases-of-test-events.ts';
import { startQueueStatistics } from './store/queue-statistics.ts';
import { purgeRates } from './store/rates.ts';

/** The running service, which the process's closers stop. */
export interface WebhookDispatcher {
  routes: ServiceRoutes[];
  /** Resolves when no delivery is due or under way; attempts planned for later may remain. */
  settled(): Promise<void>;
}

export type WebhookDispatcherContext = ServiceContext<typeof SETTINGS> &
  WithDatabase &
  WithBus &
  WithCalls<'integrations' | 'applications' | 'decisions'>;

/**
 * Resumes the pending deliveries, and consumes the events that webhooks are made from.
 *
 * @param sourcesOf lists the sources of webhooks; a test may add to the list
 */
export async function startWebhookDispatcher(
  context: WebhookDispatcherContext,
  sourcesOf = webhookSources,
): Promise<WebhookDispatcher> {
  const { settings, process, database, bus, endpoints, signer } = context;
  const { log, metrics, closers } = process;
  const { leaseMs } = settings;
  const { pool, requests } = database;
  const { destinations, sources, eventTypes } = connectPeers(context, sourcesOf);
  startDeletingOldRows(context);

  const dispatcherMetrics = new DispatcherMetrics(metrics, settings.holdMs);
  const sending = await startSending(settings, {
    pool,
    log,
    metrics: dispatcherMetrics,
    destinations,
    eventTypes,
  });
  closers.own(`${SERVICE} sending`, sending);
  const { queue, breakers, backlog, egress, deferredResults } = sending;
  closers.own(`${SERVICE} queue statistics`, startQueueStatistics(pool, log, queue));
  dispatcherMetrics.watch(pool, sending);
  const removals = startEndingRemovedDestinations({ pool, log, destinations, queue, leaseMs });
  closers.own(`${SERVICE} removed destinations`, removals);

  const replayJobs = new ReplayJobWorker({
    pool,
    log,
    metrics: dispatcherMetrics,
    queue,
    backlog,
    destinations,
    limits: { replaysPerSecond: settings.replaysPerSecond, leaseMs },
  });
  closers.own(`${SERVICE} replays`, replayJobs);

  const shared = { pool, log, metrics };
  const consumer = await startConsumer({
    ...shared,
    bus,
    endpoints,
    signer,
    closers,
    consumer: SERVICE,
    topics: [...new Set(sources.map(({ topic }) => topic))],
    publishers: ['applications', 'integrations', 'decisions'],
    handle: createIntake({
      ...shared,
      sources,
      queue,
      breakers,
      backlog,
      deferredResults,
      leaseMs,
    }),
    findTooFewEffects: findTooFewDeliveries,
  });
  closers.own(`${SERVICE} consumer`, consumer);

  const sends = { egress, destinations, eventTypes, clock: systemClock, newId };
  const deps = { requests, log, breakers, backlog, replayJobs, ...sends };
  return {
    routes: [deliveriesRoutes({ ...deps, sendTestEvent: createSendTestEvent(deps) })],
    settled: () => sending.settled(),
  };
}

/** The clients of other services, and the sources of webhooks, which call them. */
function connectPeers(
  { settings, process, endpoints, signer }: WebhookDispatcherContext,
  sourcesOf: typeof webhookSources,
) {
  const { metrics, closers, health } = process;
  // The health of other services is optional: while one is unavailable, only the webhooks that need it wait.
  const peers = { endpoints, signer, closers, health: health.optional, metrics };
  const integrations = connectPeer(DestinationsService, 'integrations', peers);
  const enablement = connectPeer(EnablementService, 'integrations', peers);
  const applications = connectPeer(ApplicationsService, 'applications', peers);
  const destinations = new Destinations(integrations, settings.destinationsCacheMs);
  const { granted, ofIntegration } = destinations;
  const findEnablement = retailerEnablementFinder(enablement);
  const findExport = exportFinder(applications);
  const sources = sourcesOf({ granted, ofIntegration, findEnablement, findExport });
  const eventTypes = new Map(
    sources.flatMap((source) => source.eventTypes.map((eventType) => [eventType.name, eventType])),
  );
  return { destinations, sources, eventTypes };
}

function startDeletingOldRows({ process, database }: WebhookDispatcherContext): void {
  const { log, metrics, closers } = process;
  const { pool } = database;
  const purges = [
    moveEnded,
    ...purgesOfRowsWithoutDay,
    purgeReplayJobs,
    purgeBreakers,
    purgeRates,
    purgeTestEventLeases,
    purgeIdempotency,
  ];
  closers.own(`${SERVICE} retention`, startRetention({ pool, log, purges }));
  const partitions = startPartitions({
    pool,
    log,
    metrics,
    service: SERVICE,
    tables: PARTITIONS,
    earlier: earlierTables(log),
  });
  closers.own(`${SERVICE} partitions`, partitions);
}
