/** What the dispatcher counts. No label names a destination: there is no end to those. */

import type { Database } from '@creditlane/postgres/database';
import { defineStatement, type Statement } from '@creditlane/postgres/statement';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { BreakerState } from './queue/adaptive-limit.ts';

export class Measures {
  readonly attempts;
  readonly #latency;
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.attempts = metrics.counter(
      'webhook_attempts_total',
      'Attempts at webhooks, by what became of the delivery.',
      ['outcome'],
    );
    this.#latency = metrics.histogram(
      'webhook_latency_seconds',
      'From recording a decision to the first byte of its webhook on the way to a destination.',
      [],
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
    );
  }

  firstByte(recordedAt: Date, sentAt: Date): void {
    this.#latency.observe(Math.max(0, sentAt.getTime() - recordedAt.getTime()) / 1_000);
  }

  /** Reads the levels whenever the metrics are asked for. */
  watch(source: {
    pool: Database['pool'];
    inHand: () => number;
    breakers: () => Record<BreakerState, number>;
  }): void {
    const { pool, inHand, breakers } = source;
    this.#metrics.gauge('webhook_backlog', 'Deliveries by state.', ['state'], async (gauge) => {
      for (const { state, count } of await countBacklog.run(pool)) gauge.set({ state }, count);
    });
    this.#metrics.gauge(
      'webhook_oldest_undelivered_seconds',
      'Age of the oldest delivery that is neither delivered nor given up.',
      [],
      async (gauge) => {
        const [row] = await findOldest.run(pool);
        gauge.set(row?.age_s ?? 0);
      },
    );
    const counted = (name: string, help: string, counting: Statement<{ count: number }>) => {
      this.#metrics.gauge(name, help, [], async (gauge) => {
        const [row] = await counting.run(pool);
        gauge.set(row?.count ?? 0);
      });
    };
    counted('webhook_dead_letters', 'Events that could not be handled.', countDeadLetters);
    counted(
      'webhook_disabled_destinations',
      'Destinations that get nothing more until they are set anew.',
      countDisabled,
    );
    this.#metrics.gauge(
      'webhook_breakers',
      'Destinations this process sends to, by the state of their breaker.',
      ['state'],
      (gauge) => {
        for (const [state, count] of Object.entries(breakers())) gauge.set({ state }, count);
      },
    );
    this.#metrics.gauge('webhook_in_hand', 'Deliveries in this process.', [], (gauge) => {
      gauge.set(inHand());
    });
  }
}

// Each part has a partial index of its own, so that the delivered ones need not be read.
const countBacklog = defineStatement<{ state: string; count: number }>(
  'measure_backlog',
  `SELECT 'waiting' AS state, count(*) FROM deliveries WHERE state = 'waiting'
   UNION ALL SELECT 'due', count(*) FROM deliveries WHERE state = 'due'
   UNION ALL SELECT 'dead', count(*) FROM deliveries WHERE state = 'dead'`,
);

const findOldest = defineStatement<{ age_s: number | null }>(
  'measure_oldest',
  `SELECT extract(epoch FROM now() - least(
     (SELECT min(created_at) FROM deliveries WHERE state = 'waiting'),
     (SELECT min(created_at) FROM deliveries WHERE state = 'due')))::float8 AS age_s`,
);

const countDeadLetters = defineStatement<{ count: number }>(
  'measure_dead_letters',
  'SELECT count(*) FROM dead_letters',
);

const countDisabled = defineStatement<{ count: number }>(
  'measure_disabled_destinations',
  'SELECT count(*) FROM destination_states WHERE disabled_at IS NOT NULL',
);
