/** Chooses which of the lines that clients can cause in any number are logged. */

/** Lines in each second with the same code. */
const MAX_LINES_PER_SECOND = 5;
const SECOND_MS = 1_000;

interface Sample {
  secondStartedMs: number;
  lines: number;
  /** Lines that were not logged since the latest one that was. */
  unlogged: number;
}

export class LineSample {
  readonly #samples = new Map<string, Sample>();
  readonly #nowMs: () => number;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Returns whether a line with this code, which is from a closed list, is logged; and how many with the code
   * were not since the one before.
   */
  take(code: string): { isLogged: boolean; unlogged: number } {
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
