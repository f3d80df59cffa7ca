/** The dispatcher's metrics. The destination is never a label, because the number of destinations is unbounded. */
import type { Database } from '@creditlane/postgres/database';
import type { Statement } from '@creditlane/postgres/statement';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { DeliveryQueue } from './queue/delivery-queue.ts';
import {
  countBacklog,
  countDisabledDestinations,
  countUnfinishedReplays,
  findOldestUndelivered,
} from './store/gauges.ts';

export class DispatcherMetrics {
  readonly attempts;
  readonly replayedDeliveries;
  readonly endedReplays;
  readonly #latency;
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.attempts = metrics.counter(
      'webhook_attempts_total',
      'Attempts at webhooks, by the state of the delivery after them.',
      ['outcome'],
    );
    this.replayedDeliveries = metrics.counter(
      'webhook_replayed_deliveries_total',
      'Deliveries that replays of many have put back into the queue.',
    );
    this.endedReplays = metrics.counter(
      'webhook_ended_replays_total',
      'Replays of many deliveries that have ended, by their last state.',
      ['state'],
    );
    this.#latency = metrics.histogram(
      'webhook_latency_seconds',
      'From recording a decision to the first byte of the first attempt at its webhook.',
      [],
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
    );
  }

  observeFirstByte(recordedAt: Date, sentAt: Date): void {
    this.#latency.observe(Math.max(0, sentAt.getTime() - recordedAt.getTime()) / 1_000);
  }

  /** Registers the gauges, which are read whenever the metrics are. */
  watch(pool: Database['pool'], queue: DeliveryQueue): void {
    this.#metrics.gauge('webhook_backlog', 'Deliveries by state.', ['state'], async (gauge) => {
      for (const { state, count } of await countBacklog.run(pool)) gauge.set({ state }, count);
    });
    this.#metrics.gauge(
      'webhook_oldest_undelivered_seconds',
      'Age of the oldest delivery that is neither delivered nor dead.',
      [],
      async (gauge) => {
        const [row] = await findOldestUndelivered.run(pool);
        gauge.set(row?.age_s ?? 0);
      },
    );
    const count = (name: string, help: string, statement: Statement<{ count: number }>) => {
      this.#metrics.gauge(name, help, [], async (gauge) => {
        const [row] = await statement.run(pool);
        gauge.set(row?.count ?? 0);
      });
    };
    count(
      'webhook_disabled_destinations',
      'Destinations that nothing is sent to until they are enabled again.',
      countDisabledDestinations,
    );
    count(
      'webhook_unfinished_replays',
      'Replays of many deliveries that have not ended.',
      countUnfinishedReplays,
    );
    this.#metrics.gauge(
      'webhook_breakers',
      'Destinations by the state of their circuit breaker: the open and half-open ones of all replicas, the closed ones of this process.',
      ['state'],
      (gauge) => {
        for (const [state, count] of Object.entries(queue.breakerStates())) {
          gauge.set({ state }, count);
        }
      },
    );
    this.#metrics.gauge(
      'webhook_in_hand',
      'Deliveries in the queue of this process.',
      [],
      (gauge) => gauge.set(queue.size),
    );
  }
}
