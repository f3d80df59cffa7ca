/** A file that never changes while the process runs: hashed when it is loaded, compressed at its first use. */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { acceptedCoding, type Coding, compress } from './content-coding.ts';

export class StaticFile {
  /** The hash of the content. */
  readonly version: string;
  readonly #type: string;
  readonly #content: Buffer;
  readonly #compress: typeof compress;
  /** Compressed on a thread of its own, which at the start would delay every process by 0.2 s. */
  readonly #compressed = new Map<Coding, Promise<Buffer>>();

  constructor(type: string, content: string | Buffer, compressContent = compress) {
    this.#type = type;
    this.#compress = compressContent;
    this.#content = Buffer.from(content);
    this.version = createHash('sha256').update(this.#content).digest('base64url');
  }

  /** Answers with the file in the coding that the client prefers, or with 304 when the client has it. */
  async send(ctx: Context, cacheControl: string): Promise<void> {
    const coding = acceptedCoding(ctx);
    // Before any header: those of the file must not be those of the answer to a failure.
    const content = coding === undefined ? this.#content : await this.#compressedAs(coding);
    ctx.set('Cache-Control', cacheControl);
    // Weak, because all codings of the content have the same one.
    ctx.set('ETag', `W/"${this.version}"`);
    ctx.set('Vary', 'Accept-Encoding');
    ctx.status = 200;
    if (ctx.fresh) {
      ctx.status = 304;
      return;
    }
    if (coding !== undefined) ctx.set('Content-Encoding', coding);
    ctx.body = content;
    ctx.set('Content-Type', this.#type);
  }

  #compressedAs(coding: Coding): Promise<Buffer> {
    let compressed = this.#compressed.get(coding);
    if (compressed === undefined) {
      compressed = this.#compress(this.#content, coding, 'small');
      this.#compressed.set(coding, compressed);
      // The next request tries again.
      compressed.catch(() => this.#compressed.delete(coding));
    }
    return compressed;
  }
}
