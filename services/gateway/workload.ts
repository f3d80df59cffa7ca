/** How much is taken on at once: what is beyond it is refused while there is still time to say so. */
import { unavailable } from '@creditlane/rpc/fault';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

export class Workload {
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
   * Does the work, or throws `unavailable`. Work that nobody would wait for any more once it is done
   * keeps the rest from being done in time, so it is better not begun.
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
