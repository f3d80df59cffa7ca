/** The counts and times of one method's calls, by outcome. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';

const LABELS = ['service', 'method', 'code'];

type Outcome = { count(): void; observe(seconds: number): void };

export class CallMetrics {
  // The children are looked up once per outcome; there are a dozen outcomes at most.
  readonly #outcomes = new Map<string, Outcome>();
  readonly #outcomeOf: (code: string) => Outcome;

  constructor(metrics: Metrics, service: string, method: string) {
    const requests = metrics.counter('rpc_requests_total', 'Calls answered, by outcome.', LABELS);
    const durations = metrics.histogram(
      'rpc_duration_seconds',
      'Time from the arrival of a call to its answer.',
      LABELS,
    );
    this.#outcomeOf = (code) => {
      const labels = { service, method, code };
      const counter = requests.labels(labels);
      const timer = durations.labels(labels);
      return { count: () => counter.inc(), observe: (seconds) => timer.observe(seconds) };
    };
  }

  record(code: string, durationMs: number): void {
    let outcome = this.#outcomes.get(code);
    if (outcome === undefined) {
      outcome = this.#outcomeOf(code);
      this.#outcomes.set(code, outcome);
    }
    outcome.count();
    outcome.observe(durationMs / 1000);
  }
}
