/** Commits the offsets of handled messages beside the next fetch, which need not wait for the answer. */
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { EachBatchPayload } from 'kafkajs';

/**
 * The pause after each commit: what is handled meanwhile is committed together. When a member dies, the next one
 * handles once more what was handled in this pause, during the commit under way and, after a failed commit, in
 * RETRY_MS. The inbox knows these events.
 */
const PAUSE_MS = 100;
/** The pause after a commit that has failed. */
const RETRY_MS = 1_000;

type Commit = Pick<EachBatchPayload, 'commitOffsetsIfNecessary' | 'uncommittedOffsets'>;

/** The commits of one generation of the group. What they have not committed when it ends is handled again. */
export class OffsetCommits {
  readonly #stop = new AbortController();
  #commit: Commit | undefined;
  #isDue = false;
  #isRunning = false;
  #flushing: Promise<void> | undefined;
  #failure: { error: unknown } | undefined;

  /** Commits at once, or after the pause that follows the last commit. */
  request(commit: Commit): void {
    this.#commit = commit;
    this.#isDue = true;
    if (!this.#isRunning) void this.#run();
  }

  /**
   * Commits at once, beside a commit under way, whose offsets it repeats: the broker handles the requests of a
   * connection in their order. Rejects with the error of the commit.
   */
  flush(): Promise<void> {
    // Partitions whose batches end in the same turn of the event loop are committed together.
    this.#flushing ??= Promise.resolve().then(async () => {
      this.#flushing = undefined;
      this.#isDue = false;
      const commit = this.#commit;
      await commit?.commitOffsetsIfNecessary(commit.uncommittedOffsets());
    });
    return this.#flushing;
  }

  /** Throws the error of a commit that has failed and was not repeated since. */
  throwIfFailed(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  /** From now on, only `flush` commits. */
  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal: stop } = this.#stop;
    this.#isRunning = true;
    while (this.#isDue && !stop.aborted) {
      try {
        await this.flush();
        this.#failure = undefined;
      } catch (error) {
        this.#failure = { error };
        // Repeated also when no further batch comes. The offsets are those that are not committed then.
        this.#isDue = true;
      }
      await pause(this.#failure ? RETRY_MS : PAUSE_MS, stop);
    }
    this.#isRunning = false;
  }
}
