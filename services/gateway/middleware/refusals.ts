/** Records refused requests: each one is counted, and a sample of them is logged. */
import { LineSample } from '@creditlane/runtime/telemetry/line-sample';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

/** A client can cause these statuses in any number, so only a sample of their lines is logged. */
export function isSampled(status: number): boolean {
  return status === 401 || status === 429 || status === 503;
}

export class Refusals {
  readonly #counter;
  readonly #lines = new LineSample();

  constructor(metrics: Metrics) {
    this.#counter = metrics.counter(
      'http_refusals_total',
      'Requests and connections refused or cut: without a key, over a limit or under overload, by the code of the error.',
      ['code'],
    );
  }

  /** Counts a refusal. `code` is from the closed list of error codes. Returns whether it is logged: see `LineSample`. */
  record(code: string): { isLogged: boolean; unlogged: number } {
    this.#counter.inc({ code });
    return this.#lines.take(code);
  }
}
