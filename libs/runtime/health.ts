import type { Metrics } from './telemetry/metrics.ts';

/** What one part of the process says of itself: true when fit for work, else why it is not. */
export type HealthCheck = () => boolean | string;

/** The answer to "may work be sent here?", with what each part said ("ok", or why not). */
export interface Readiness {
  ready: boolean;
  /** Something is away that callers can be answered without; what waits for it is done later. */
  degraded: boolean;
  checks: Record<string, string>;
}

/** Takes checks: all that a part of the process needs to know of its health. */
export interface HealthCheckRegistry {
  add(name: string, check: HealthCheck): void;
}

const OK = 'ok';
const HELP = 'What a process says of its parts and of what it depends on: 1 is fit for work.';

/** Whether this process is alive, and whether work may be sent to it. */
export class Health implements HealthCheckRegistry {
  readonly #checks: { name: string; check: HealthCheck; needed: boolean }[] = [];
  /**
   * Takes the checks of what no caller's answer waits for. They are told of, and change nothing in
   * whether the process is ready: all replicas would leave their callers at once.
   */
  readonly optional: HealthCheckRegistry = {
    add: (name, check) => void this.#checks.push({ name, check, needed: false }),
  };
  #draining = false;

  /** Asks `check` whenever readiness is asked for. Checks of one name answer as one. */
  add(name: string, check: HealthCheck): void {
    this.#checks.push({ name, check, needed: true });
  }

  /** Makes a figure of each check. */
  exportMetrics(metrics: Metrics): void {
    metrics.gauge('health_check', HELP, ['check'], (gauge) => {
      for (const [check, answer] of Object.entries(this.ready().checks)) {
        gauge.set({ check }, answer === OK ? 1 : 0);
      }
    });
  }

  /** From now on the process is alive but not ready: it finishes what it has and takes no more. */
  drain(): void {
    this.#draining = true;
  }

  /**
   * A process that can answer is alive. Trouble with a dependency shows in `ready` only: being
   * restarted would not mend the dependency.
   */
  live(): { live: boolean } {
    return { live: true };
  }

  ready(): Readiness {
    const checks: Record<string, string> = {};
    let [ready, degraded] = [!this.#draining, false];
    for (const { name, check, needed } of this.#checks) {
      const answer = answerOf(check);
      if (answer !== OK && needed) ready = false;
      if (answer !== OK && !needed) degraded = true;
      const before = checks[name] ?? OK;
      checks[name] = before === OK ? answer : before;
    }
    if (this.#draining) checks.process = 'draining';
    return { ready, degraded, checks };
  }
}

function answerOf(check: HealthCheck): string {
  try {
    const answer = check();
    if (answer === true) return OK;
    return answer === false ? 'not ready' : answer;
  } catch (error) {
    // The probe shows that the check is broken; its message may hold more than a probe should show.
    return `check failed: ${error instanceof Error ? error.name : typeof error}`;
  }
}
