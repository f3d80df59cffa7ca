/** Counts the records of a TLS connection, by their headers (RFC 8446, 5.1), which are not encrypted. */
const HEADER_BYTES = 5;

export class TlsRecordCounter {
  #headerBytes = 0;
  /** The last two bytes of the header are the length of the record. */
  #length = 0;
  #remainingBytes = 0;

  /** How many headers are complete after these bytes, which continue those of earlier calls. */
  count(bytes: Buffer): number {
    let records = 0;
    for (let at = 0; at < bytes.length; ) {
      const skipped = Math.min(this.#remainingBytes, bytes.length - at);
      this.#remainingBytes -= skipped;
      at += skipped;
      if (at === bytes.length) break;
      this.#length = ((this.#length << 8) | (bytes[at] ?? 0)) & 0xffff;
      at += 1;
      this.#headerBytes += 1;
      if (this.#headerBytes < HEADER_BYTES) continue;
      this.#headerBytes = 0;
      this.#remainingBytes = this.#length;
      records += 1;
    }
    return records;
  }
}
