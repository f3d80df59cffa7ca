/** The dispatcher's metrics. The destination is never a label, because the number of destinations is unbounded. */
import type { Database } from '@creditlane/postgres/database';
import { createExpiringCache } from '@creditlane/runtime/expiring-cache';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { LRUCache } from 'lru-cache';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import { isSlow } from './queue/send-slots.ts';
import type { Step } from './sending/schedule.ts';
import {
  ageOfOldestUndeliveredS,
  countBacklog,
  countDisabledDestinations,
  countUnfinishedReplayJobs,
  longestDueS,
} from './store/gauges.ts';

/** Deliveries that a failing one has held are sent when the hold is over, or some moments later. */
const AFTER_HOLD_MS = 60_000;
/** A destination that has failed, or was paused or limited, gets what has waited for it until its webhooks are less late than that. */
const CATCHING_UP_MS = 60_000;
const MAX_FAILING_DESTINATIONS = 10_000;
/** Dead deliveries are kept for a month: after a long outage of receivers, a count of all would take seconds at each scrape. */
const MAX_COUNTED_DEAD = 10_000;
const OUTCOMES: readonly Step['kind'][] = ['delivered', 'retry', 'dead', 'disable'];
const RECEIVERS = ['answering', 'failing'] as const;

interface Watched {
  readonly queue: DeliveryQueue;
  /** How long ago due deliveries were last claimed. */
  claimAgeMs(): number;
}

export class DispatcherMetrics {
  readonly #attempts;
  /** Destinations at which attempts of this process have lately failed or were slow, or that were paused or limited: these delay their own webhooks. */
  readonly #failing: LRUCache<string, true>;
  readonly replayedDeliveries;
  readonly endedReplayJobs;
  readonly #latency;
  readonly #metrics: Metrics;

  /** @param holdMs how long a failing delivery keeps the later ones of its lane waiting */
  constructor(metrics: Metrics, holdMs: number) {
    this.#metrics = metrics;
    this.#failing = createExpiringCache(MAX_FAILING_DESTINATIONS, holdMs + AFTER_HOLD_MS);
    this.#attempts = metrics.counter(
      'webhook_attempts_total',
      'Attempts at webhooks, by the state of the delivery after them.',
      ['outcome'],
    );
    for (const outcome of OUTCOMES) this.#attempts.inc({ outcome }, 0);
    this.replayedDeliveries = metrics.counter(
      'webhook_replayed_deliveries_total',
      'Deliveries that replays of many have put back into the queue.',
    );
    this.endedReplayJobs = metrics.counter(
      'webhook_ended_replays_total',
      'Replays of many deliveries that have ended, by their last state, without those that an operator’s command has cancelled.',
      ['state'],
    );
    this.#latency = metrics.histogram(
      'webhook_latency_seconds',
      'From recording a decision to the first byte of the first attempt at its webhook, by whether attempts at its destination failed or were slow, or it was paused or had a rate limit, within the time of ORDER_HOLD.',
      ['receiver'],
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
    );
    for (const receiver of RECEIVERS) this.#latency.zero({ receiver });
  }

  observeFirstByte(destinationId: string, recordedAt: Date, sentAt: Date): void {
    const isFailing = this.#failing.has(destinationId);
    const receiver: (typeof RECEIVERS)[number] = isFailing ? 'failing' : 'answering';
    const latencyMs = Math.max(0, sentAt.getTime() - recordedAt.getTime());
    // What has waited for the destination may take longer to be sent than the mark lasts: 100,000 after a pause, at 20 a second.
    if (isFailing && latencyMs > CATCHING_UP_MS) this.#failing.set(destinationId, true);
    this.#latency.observe({ receiver }, latencyMs / 1_000);
  }

  /** `answeredInMs` is how long the exchange took, undefined when no request was sent. */
  countAttempt(outcome: Step['kind'], destinationId: string, answeredInMs?: number): void {
    this.#attempts.inc({ outcome });
    if (answeredInMs === undefined) return;
    // A slow receiver gets fewer requests at once, so that its later webhooks wait.
    if (outcome !== 'delivered' || isSlow(answeredInMs)) this.#failing.set(destinationId, true);
  }

  /** The webhooks to these destinations wait, for the end of a pause or for the rate, because that is what their owners ask for. */
  markHeldBack(destinationIds: readonly string[]): void {
    for (const id of destinationIds) this.#failing.set(id, true);
  }

  /** Registers the gauges, which are read whenever the metrics are. */
  watch(pool: Database['pool'], { queue, claimAgeMs }: Watched): void {
    this.#metrics.gauge(
      'webhook_backlog',
      `Deliveries by state. Of dead ones, which are kept for 30 days, ${MAX_COUNTED_DEAD} are counted at most.`,
      ['state'],
      async (gauge) => {
        const counts = await countBacklog(pool, MAX_COUNTED_DEAD);
        for (const { state, count } of counts) gauge.set({ state }, count);
      },
    );
    type Read = (db: Database['pool']) => number | Promise<number>;
    const measure = (name: string, help: string, read: Read) => {
      this.#metrics.gauge(name, help, [], async (gauge) => gauge.set(await read(pool)));
    };
    measure(
      'webhook_oldest_undelivered_seconds',
      'Age of the oldest delivery that is neither delivered nor dead.',
      ageOfOldestUndeliveredS,
    );
    measure(
      'webhook_longest_due_seconds',
      'For how long the delivery that is due longest could have been attempted, or its lease renewed; 0 without one.',
      longestDueS,
    );
    measure(
      'webhook_disabled_destinations',
      'Destinations that nothing is sent to until they are enabled again.',
      countDisabledDestinations,
    );
    measure(
      'webhook_unfinished_replays',
      'Replays of many deliveries that have not ended.',
      countUnfinishedReplayJobs,
    );
    measure(
      'webhook_claim_age_seconds',
      'Since this process last claimed due deliveries, or had no capacity left in its queue.',
      () => claimAgeMs() / 1_000,
    );
    measure('webhook_in_hand', 'Deliveries in the queue of this process.', () => queue.size);
    this.#metrics.gauge(
      'webhook_breakers',
      'Destinations by the state of their circuit breaker: the open, half-open and paused ones of all replicas, the closed ones of this process.',
      ['state'],
      (gauge) => {
        for (const [state, count] of Object.entries(queue.breakerStates())) {
          gauge.set({ state }, count);
        }
      },
    );
  }
}
