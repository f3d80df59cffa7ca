import { withTimeLimit } from './concurrency/time-limit.ts';

type Close = () => Promise<void> | void;

/**
 * What has been opened, and how to close it: last in, first out, each once.
 *
 * A closer that fails or exceeds its deadline does not keep the others from running.
 */
export class Closers {
  readonly #stack: { name: string; close: Close }[] = [];
  readonly #failures: CloserError[] = [];
  readonly #deadlineMs: number;
  #closing: Promise<void> | undefined;

  /** `deadlineMs` is how long each closer may take before the next one gets its turn. */
  constructor({ deadlineMs = 10_000 }: { deadlineMs?: number } = {}) {
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Remembers how to close what was just opened.
   * @throws {ClosingError} when closing has begun: what was opened late is closed too, and a startup
   *   overtaken by a shutdown stops building.
   */
  add(name: string, close: Close): void {
    this.#stack.push({ name, close });
    if (this.#closing === undefined) return;
    this.#closing = Promise.allSettled([this.#closing]).then(() => this.#closeAll());
    // Whoever asks for close() again hears of a failure; until then it is not an unhandled one.
    this.#closing.catch(() => {});
    throw new ClosingError(name);
  }

  /**
   * Closes everything in reverse order of adding; asked twice, it closes once.
   * @throws {AggregateError} naming the closers that failed, after all have run.
   */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let closer = this.#stack.pop(); closer; closer = this.#stack.pop()) {
      try {
        await withTimeLimit(runClose(closer.close), {
          limitMs: this.#deadlineMs,
          makeError: () => new CloserDeadlineError(this.#deadlineMs),
        });
      } catch (cause) {
        this.#failures.push(new CloserError(closer.name, { cause }));
      }
    }
    if (this.#failures.length > 0) {
      throw new AggregateError(this.#failures, 'some parts failed to close');
    }
  }
}

/** Something was opened while everything was being closed. */
export class ClosingError extends Error {
  override readonly name = 'ClosingError';
  readonly loggable = true;

  constructor(closer: string) {
    super(`${closer} was opened while the process was closing`);
  }
}

/** One part failed to close; the cause says how. */
export class CloserError extends Error {
  override readonly name = 'CloserError';
  readonly loggable = true;

  constructor(closer: string, options: ErrorOptions) {
    super(`${closer} failed to close`, options);
  }
}

/** A closer took longer than it may. */
export class CloserDeadlineError extends Error {
  override readonly name = 'CloserDeadlineError';
  readonly loggable = true;

  constructor(deadlineMs: number) {
    super(`not closed within ${deadlineMs} ms`);
  }
}

/** Turns a closer that throws at once into a rejection. */
async function runClose(close: Close): Promise<void> {
  await close();
}
