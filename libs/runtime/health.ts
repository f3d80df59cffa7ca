/** What one part of the process says of itself: true when fit for work, else why it is not. */
export type HealthCheck = () => boolean | string;

/** The answer to "may work be sent here?", with what each part said ("ok", or why not). */
export interface Readiness {
  ready: boolean;
  checks: Record<string, string>;
}

const OK = 'ok';

/** Whether this process is alive, and whether work may be sent to it. */
export class Health {
  readonly #checks: { name: string; check: HealthCheck }[] = [];
  #draining = false;

  /** Asks `check` whenever readiness is asked for. Checks of one name answer as one. */
  add(name: string, check: HealthCheck): void {
    this.#checks.push({ name, check });
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
    for (const { name, check } of this.#checks) {
      const before = checks[name] ?? OK;
      checks[name] = before === OK ? answerOf(check) : before;
    }
    if (this.#draining) checks.process = 'draining';
    return { ready: Object.values(checks).every((answer) => answer === OK), checks };
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
