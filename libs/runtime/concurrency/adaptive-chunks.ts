/** Handles many items in chunks that are as large as limits of size and time allow. */
export class AdaptiveChunks {
  #size: number;
  readonly #maxSize: number;

  constructor(maxSize = Number.POSITIVE_INFINITY) {
    this.#size = maxSize;
    this.#maxSize = maxSize;
  }

  /**
   * Handles the items in order, one chunk after the other. A chunk whose error `isTooLarge` is handled again in
   * halves. Rejects with any other error, and with that of a single item; the chunks before are handled then.
   * Later calls begin with the size that succeeded last, which grows again by an eighth with each chunk of that size.
   */
  async run<Item>(
    items: readonly Item[],
    handle: (chunk: readonly Item[]) => Promise<void>,
    isTooLarge: (error: unknown) => boolean,
  ): Promise<void> {
    let done = 0;
    while (done < items.length) {
      const chunk = items.slice(done, done + this.#size);
      try {
        await handle(chunk);
      } catch (error) {
        if (chunk.length === 1 || !isTooLarge(error)) throw error;
        this.#size = chunk.length >> 1;
        continue;
      }
      done += chunk.length;
      // A smaller chunk says nothing of larger ones.
      if (chunk.length < this.#size) continue;
      this.#size = Math.min(this.#maxSize, this.#size + Math.max(1, this.#size >> 3));
    }
  }
}
