import { withTimeLimit } from './concurrency/time-limit.ts';
import { LoggableError } from './telemetry/loggable-error.ts';

type Close = () => Promise<void> | void;

/**
 * Closes what a process has opened, each part once, in reverse order of opening.
 *
 * A closer that fails or exceeds its deadline does not stop the other closers.
 */
export class Closers {
  readonly #stack: { name: string; close: Close; limitMs: number }[] = [];
  readonly #failures: CloserError[] = [];
  readonly #deadlineMs: number;
  #closing: Promise<void> | undefined;

  /** `deadlineMs` is how long to wait for each closer before the next one starts. */
  constructor({ deadlineMs = 10_000 }: { deadlineMs?: number } = {}) {
    this.#deadlineMs = deadlineMs;
  }

  /**
   * Adds the closer of a part that was just opened. `needsMs` is the time limit of this closer, where
   * that is longer than the deadline.
   * @throws {ClosingError} when `close` was called before. The part is closed all the same, and the
   *   error stops the startup that opened it.
   */
  add(name: string, close: Close, needsMs = 0): void {
    this.#stack.push({ name, close, limitMs: Math.max(this.#deadlineMs, needsMs) });
    if (this.#closing === undefined) return;
    this.#closing = Promise.allSettled([this.#closing]).then(() => this.#closeAll());
    // The next call of `close` gets the error. This handler keeps it from being unhandled until then.
    this.#closing.catch(() => {});
    throw new ClosingError(name);
  }

  /** Adds the part's own `close`, as `add` does, and returns the part. */
  own<Part extends { close: Close }>(name: string, part: Part, needsMs?: number): Part {
    this.add(name, () => part.close(), needsMs);
    return part;
  }

  /** By how much the limits of single closers exceed the deadline, in sum. To be read before `close`, which empties the list. */
  get extraMs(): number {
    return this.#stack.reduce((sum, { limitMs }) => sum + limitMs - this.#deadlineMs, 0);
  }

  /**
   * Closes everything in reverse order of `add`. A second call returns the same promise.
   * @throws {AggregateError} with the error of each failed closer, after all closers have run.
   */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  async #closeAll(): Promise<void> {
    for (let closer = this.#stack.pop(); closer; closer = this.#stack.pop()) {
      const { limitMs } = closer;
      try {
        await withTimeLimit(runClose(closer.close), {
          limitMs,
          makeError: () => new CloserDeadlineError(limitMs),
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

/** A part was opened after `close` was called. */
export class ClosingError extends LoggableError {
  constructor(closer: string) {
    super(`${closer} was opened while the process was closing`);
  }
}

/** A closer failed; the cause says why. */
export class CloserError extends LoggableError {
  constructor(closer: string, options: ErrorOptions) {
    super(`${closer} failed to close`, options);
  }
}

/** A closer exceeded its deadline. */
export class CloserDeadlineError extends LoggableError {
  constructor(deadlineMs: number) {
    super(`not closed within ${deadlineMs} ms`);
  }
}

/** Turns a closer that throws at once into a rejection. */
async function runClose(close: Close): Promise<void> {
  await close();
}
