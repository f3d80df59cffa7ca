/** Records refused requests: each one is counted, and a sample of them is logged. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

/** Lines in each second about refusals with the same code. */
const MAX_LINES_PER_SECOND = 5;
const SECOND_MS = 1_000;

interface Sample {
  secondStartedMs: number;
  lines: number;
  /** Refusals without a line since the latest line. */
  unlogged: number;
}

/** Statuses that a client may cause in any number, with a few bytes each: no key, over a limit, overload. */
export function isRefusal(status: number): boolean {
  return status === 401 || status === 429 || status === 503;
}

export class Refusals {
  readonly #counter;
  readonly #samples = new Map<string, Sample>();
  readonly #nowMs: () => number;

  constructor(metrics: Metrics, nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#counter = metrics.counter(
      'http_refusals_total',
      'Requests and connections refused or cut: without a key, over a limit or under overload, by the code of the error.',
      ['code'],
    );
  }

  /**
   * Counts a refusal. `code` is from the closed list of error codes. Returns whether the refusal gets a line
   * in the log, and how many refusals with this code had none since the line before.
   */
  record(code: string): { isLogged: boolean; unlogged: number } {
    this.#counter.inc({ code });
    const nowMs = this.#nowMs();
    let sample = this.#samples.get(code);
    if (sample === undefined) {
      sample = { secondStartedMs: nowMs, lines: 0, unlogged: 0 };
      this.#samples.set(code, sample);
    }
    if (nowMs - sample.secondStartedMs >= SECOND_MS) {
      sample.secondStartedMs = nowMs;
      sample.lines = 0;
    }
    if (sample.lines >= MAX_LINES_PER_SECOND) {
      sample.unlogged += 1;
      return { isLogged: false, unlogged: 0 };
    }
    const { unlogged } = sample;
    sample.lines += 1;
    sample.unlogged = 0;
    return { isLogged: true, unlogged };
  }
}
