/** Limits the number of requests for which services are called at the same time. */
import { unavailable } from '@creditlane/rpc/fault';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { OperationMiddleware } from '../request-state.ts';

/** Throws an `unavailable` Fault when too many requests are under way. */
export function limitConcurrency(limiter: ConcurrencyLimiter): OperationMiddleware {
  return function limitConcurrency(_ctx, next) {
    return limiter.run(next);
  };
}

export class ConcurrencyLimiter {
  readonly #max: number;
  #underWay = 0;

  constructor(max: number, metrics: Metrics) {
    this.#max = max;
    metrics.gauge(
      'http_requests_under_way',
      'Requests for which other services are at work.',
      [],
      (gauge) => gauge.set(this.#underWay),
    );
  }

  /**
   * Does the work, or throws an `unavailable` Fault above the limit: the work would end too late for its
   * client, and would delay the requests under way.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay >= this.#max) {
      throw unavailable('more requests are under way than are taken on at once');
    }
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }
}
