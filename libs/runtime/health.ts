import type { Metrics } from './telemetry/metrics.ts';

/** The state of one part of the process: true when the part works, otherwise why it does not. */
export type HealthCheck = () => true | string;

/** The answer of `/readyz`. `checks` has "ok" or a reason for each part of the process. */
export interface Readiness {
  ready: boolean;
  /** An optional part, such as Kafka or a called service, does not work. Calls that do without it are answered. */
  degraded: boolean;
  checks: Record<string, string>;
  /** The operations that cannot be answered at present. Left out by a process that does not tell. */
  unavailableOperations?: readonly string[];
}

/** Accepts health checks. */
export interface HealthCheckRegistry {
  add(name: string, check: HealthCheck): void;
}

const OK = 'ok';
const HELP = 'Health of each part and dependency of the process: 1 when it works, 0 otherwise.';

/** Whether the process is ready for requests. */
export class Health implements HealthCheckRegistry {
  readonly #checks: { name: string; check: HealthCheck; needed: boolean }[] = [];
  /**
   * Accepts the checks of parts that the process can do some of its work without. A failed optional check makes
   * the process degraded and not unready: otherwise an outage of Kafka, or of a called service, would make all
   * replicas unready.
   */
  readonly optional: HealthCheckRegistry = {
    add: (name, check) => void this.#checks.push({ name, check, needed: false }),
  };
  readonly #draining = new AbortController();
  #unavailableOperations: (() => readonly string[]) | undefined;

  /** Adds a check that runs on each readiness request. Of checks with one name, the first failure counts. */
  add(name: string, check: HealthCheck): void {
    this.#checks.push({ name, check, needed: true });
  }

  /** Adds to the readiness which operations cannot be answered, by their names. */
  reportOperations(unavailable: () => readonly string[]): void {
    this.#unavailableOperations = unavailable;
  }

  /** Exports each check as a metric. */
  exportMetrics(metrics: Metrics): void {
    metrics.gauge('health_check', HELP, ['check'], (gauge) => {
      for (const [check, answer] of Object.entries(this.ready().checks)) {
        gauge.set({ check }, answer === OK ? 1 : 0);
      }
    });
  }

  /** Makes the process unready for good, so that it gets no further requests while it shuts down. */
  drain(): void {
    this.#draining.abort();
  }

  /** Whether `drain` was called. */
  get isDraining(): boolean {
    return this.#draining.signal.aborted;
  }

  /** Calls `listener` when the process begins to shut down. */
  onDrain(listener: () => void): void {
    this.#draining.signal.addEventListener('abort', listener);
  }

  ready(): Readiness {
    const checks: Record<string, string> = {};
    let [ready, degraded] = [!this.isDraining, false];
    for (const { name, check, needed } of this.#checks) {
      const answer = answerOf(check);
      if (answer !== OK && needed) ready = false;
      if (answer !== OK && !needed) degraded = true;
      const before = checks[name] ?? OK;
      checks[name] = before === OK ? answer : before;
    }
    if (this.isDraining) checks.process = 'draining';
    const unavailableOperations = this.#unavailableOperations?.();
    return { ready, degraded, checks, ...(unavailableOperations && { unavailableOperations }) };
  }
}

function answerOf(check: HealthCheck): string {
  try {
    const answer = check();
    return answer === true ? OK : answer;
  } catch (error) {
    // The error's message may contain internal details, so the probe shows its name only.
    return `check failed: ${error instanceof Error ? error.name : typeof error}`;
  }
}
