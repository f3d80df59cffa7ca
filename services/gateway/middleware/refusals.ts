/** Records refused requests: each one is counted, and a sample of them is logged. */
import { LineSample } from '@creditlane/runtime/telemetry/line-sample';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Operation } from '../document/operation.ts';

/**
 * A client can cause these answers in any number, so only a sample of their lines is logged: these statuses, and what is
 * wrong with the use of a link, which takes no key.
 */
export function isSampled(status: number, operation: Operation | undefined): boolean {
  const isOfLink = operation?.access.caller === 'link';
  return status === 401 || status === 429 || status === 503 || (isOfLink && status >= 400);
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
