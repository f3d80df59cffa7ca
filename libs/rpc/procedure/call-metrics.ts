/** Counts and durations of the calls of one method, by outcome. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

const LABELS = ['service', 'method', 'code'];
/** The outcomes that an alert counts. */
const FAULTS = ['internal', 'unavailable', 'deadline'];

type Outcome = { count(): void; observe(seconds: number): void };

export class CallMetrics {
  // Looking up a child by its labels is slow, so the child of each of the dozen outcomes is kept.
  readonly #outcomes = new Map<string, Outcome>();
  readonly #createOutcome: (code: string) => Outcome;

  constructor(metrics: Metrics, service: string, method: string) {
    const requests = metrics.counter('rpc_requests_total', 'Calls answered, by outcome.', LABELS);
    const durations = metrics.histogram(
      'rpc_duration_seconds',
      'Time from the arrival of a call to its answer.',
      LABELS,
    );
    for (const code of FAULTS) requests.inc({ service, method, code }, 0);
    this.#createOutcome = (code) => {
      const labels = { service, method, code };
      const counter = requests.labels(labels);
      const timer = durations.labels(labels);
      return { count: () => counter.inc(), observe: (seconds) => timer.observe(seconds) };
    };
  }

  /** Records one call. `code` is the kind of its fault, or "ok". */
  record(code: string, durationMs: number): void {
    let outcome = this.#outcomes.get(code);
    if (outcome === undefined) {
      outcome = this.#createOutcome(code);
      this.#outcomes.set(code, outcome);
    }
    outcome.count();
    outcome.observe(durationMs / 1000);
  }
}
