/**
 * Starts the parts that send deliveries: queue, claimer, leases, sender and result recorder; and the part that ends the
 * deliveries to disabled destinations.
 */
import type { Database } from '@creditlane/postgres/database';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { systemClock } from '@creditlane/runtime/clock';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { createDestinationLog } from '../destinations/destination-log.ts';
import type { Destinations } from '../destinations/destinations.ts';
import { startEndingDisabledDestinations } from '../destinations/disabled-destinations.ts';
import type { DispatcherMetrics } from '../dispatcher-metrics.ts';
import { Egress } from '../egress/egress.ts';
import type { WebhookEventType } from '../events/webhook-event-type.ts';
import { Backlog } from '../queue/backlog.ts';
import { Claimer } from '../queue/claimer.ts';
import { DeliveryQueue } from '../queue/delivery-queue.ts';
import { releaseLeases, startMaintainingLeases } from '../queue/leases.ts';
import { OpenBreakers } from '../queue/open-breakers.ts';
import { DestinationRates } from '../queue/rates/destination-rates.ts';
import { startLimitedClaims } from '../queue/rates/limited-claims.ts';
import { startSharingBreakers } from '../queue/shared-breakers.ts';
import type { WebhookDispatcherSettings } from '../settings.ts';
import { listBreakersQuery } from '../store/breakers.ts';
import { hasUnsettledDeliveries } from '../store/pending/unsettled.ts';
import { listRatesQuery } from '../store/rates.ts';
import { createAttempt } from './attempt.ts';
import { DeferredResults } from './deferred-results.ts';
import { takePermit } from './permits.ts';
import { ResultRecorder } from './result-recorder.ts';
import { startSender } from './sender.ts';

export interface SendingDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly destinations: Destinations;
  readonly metrics: DispatcherMetrics;
  /** By the name of the webhook event type. */
  readonly eventTypes: ReadonlyMap<string, WebhookEventType>;
}

export interface Sending {
  readonly queue: DeliveryQueue;
  readonly breakers: OpenBreakers;
  readonly backlog: Backlog;
  /** Is told which deliveries wait. */
  readonly deferredResults: Pick<DeferredResults, 'addWaiting'>;
  /** For requests that are no deliveries. */
  readonly egress: Pick<Egress, 'post'>;
  /** How long ago due deliveries were last claimed. */
  claimAgeMs(): number;
  /** Resolves when no delivery is due or under way, in this process or another. */
  settled(): Promise<void>;
  /** Starts no more requests, lets those under way end, and releases the other deliveries. */
  close(): Promise<void>;
}

/** How long requests under way may last after `close`, and how long recording the last results may take. */
const CLOSE_GRACE_MS = 3_000;
const SETTLED_POLL_MS = 50;
/** How long a result waits for others, at most. */
const RESULT_DELAY_MS = 100;
/** How long a delivery that has been prepared waits for its permit, at most: it holds its slot meanwhile. */
const MAX_PERMIT_WAIT_MS = 2_000;

export async function startSending(
  settings: WebhookDispatcherSettings,
  deps: SendingDeps,
): Promise<Sending> {
  const { pool, log, destinations, metrics, eventTypes } = deps;
  const { leaseMs } = settings;
  const { queue, breakers, rates, backlog } = await createQueue(settings, deps);
  const egress = createEgress(settings);
  const destinationLog = createDestinationLog(log, destinations);
  const attempt = createAttempt({
    eventTypes,
    destinations,
    rates,
    egress,
    delaysMs: settings.retryDelaysMs,
    metrics,
    log,
    destinationLog,
    clock: systemClock,
    random: Math.random,
  });
  const shared = { pool, log, destinationLog, queue, breakers, rates, backlog, leaseMs };
  const disabledDestinations = startEndingDisabledDestinations(shared);
  const deferredResults = new DeferredResults(RESULT_DELAY_MS);
  const recorder = new ResultRecorder({
    ...shared,
    deferredResults,
    holdMs: settings.holdMs,
    disableAfterMs: settings.disableAfterMs,
    onDisabled: () => disabledDestinations.wake(),
  });
  const sender = startSender({
    queue,
    attempt,
    deferredResults,
    recorder,
    takePermit: (rate) => takePermit(pool, rate, MAX_PERMIT_WAIT_MS),
  });
  const leases = startMaintainingLeases(shared);
  const claimer = new Claimer(shared);
  const limitedClaims = startLimitedClaims(shared);
  const sharing = startSharingBreakers({
    ...shared,
    deadlineMs: settings.deadlineMs,
    onHeldBack: (ids) => metrics.markHeldBack(ids),
  });

  return {
    queue,
    breakers,
    backlog,
    egress,
    deferredResults,
    claimAgeMs: () => Math.max(claimer.claimAgeMs, limitedClaims.claimAgeMs),
    async settled() {
      while (queue.size > 0 || (await hasUnsettledDeliveries(pool))) {
        deferredResults.recordAll();
        await queue.waitForRemoval(SETTLED_POLL_MS);
      }
    },
    async close() {
      await Promise.all([claimer.close(), limitedClaims.close(), disabledDestinations.close()]);
      const unsent = queue.close();
      await sender.close();
      deferredResults.close();
      await releaseLeases({ pool, log }, unsent);
      await queue.waitUntilEmpty(CLOSE_GRACE_MS);
      await egress.close();
      await queue.waitUntilEmpty(CLOSE_GRACE_MS);
      // Leases are renewed until here: another process would send a delivery again whose lease has ended.
      await leases.close();
      await recorder.close();
      await sharing.close();
    },
  };
}

/** Creates the empty queue, with the circuit breakers and rate limits that the database holds. */
async function createQueue(
  settings: WebhookDispatcherSettings,
  { pool, log, metrics }: SendingDeps,
) {
  const { leaseMs, maxInFlight, maxInFlightPerDestination } = settings;
  const breakers = new OpenBreakers();
  const rates = new DestinationRates();
  // Before anything is sent: intake, and the ends of holds, lease deliveries without a look at the circuit breakers and limits.
  const [openBreakers, storedRates] = await runPipeline(pool, [
    listBreakersQuery(),
    listRatesQuery(),
  ]);
  breakers.replace(openBreakers);
  rates.replace(storedRates);
  metrics.markHeldBack([...breakers.paused, ...rates.ids]);
  const backlog = new Backlog();
  const queue = new DeliveryQueue({
    breakers,
    rates,
    backlog,
    leaseMs,
    maxInFlight,
    maxInFlightPerDestination,
    async onRefused(deliveries) {
      await releaseLeases({ pool, log }, deliveries);
      // The next delivery of a lane is leased without a permit, when the one before it has ended: it is claimed again, with one.
      rates.addClaimable(deliveries.map(({ destinationId }) => destinationId));
    },
  });
  return { queue, breakers, rates, backlog };
}

function createEgress(settings: WebhookDispatcherSettings): Egress {
  return new Egress({
    ...settings.egress,
    authorities: settings.authorities,
    deadlineMs: settings.deadlineMs,
    connectionsPerDestination: settings.maxInFlightPerDestination,
    maxIdleConnections: settings.maxInFlight,
  });
}
