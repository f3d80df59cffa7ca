const EMPTY = Buffer.alloc(0);

/**
 * Bytes that arrive in pieces, copied into one buffer: a piece of a single byte takes some 200 bytes of its
 * own, so a list of the pieces of a body could be 200 times as large as the body.
 */
export class GrowingBuffer {
  #buffer: Buffer = EMPTY;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (this.#length === 0) {
      // Most bodies come in one piece, which need not be copied. It is full, so nothing is written to it.
      this.#buffer = piece;
    } else {
      if (length > this.#buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#buffer.length));
        this.#buffer.copy(larger, 0, 0, this.#length);
        this.#buffer = larger;
      }
      piece.copy(this.#buffer, this.#length);
    }
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
