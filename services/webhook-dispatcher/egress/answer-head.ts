/** The head of an answer: its status, and the headers that this client honours. */
import type { Outcome } from './exchange.ts';
import { retryAfterMs } from './retry-after.ts';

/** How the end of the body is found. */
export type BodyEnd =
  | { readonly kind: 'after_bytes'; readonly bytes: number }
  | { readonly kind: 'after_last_chunk' }
  | { readonly kind: 'with_connection' };

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

/** An idle connection is closed this long before the time that its receiver announced. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const DEFAULT_KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 60_000;

export class AnswerHead {
  readonly status: number;
  #persists: boolean;
  #keepAliveMs = DEFAULT_KEEP_ALIVE_MS;
  #contentLength: number | undefined;
  #transferCoding: string | undefined;
  #retryAfter: string | undefined;

  private constructor(status: number, persists: boolean) {
    this.status = status;
    this.#persists = persists;
  }

  /** A head that begins with this line; `undefined` when the line is no status line of HTTP/1. */
  static startingWith(statusLine: string): AnswerHead | undefined {
    const match = STATUS_LINE.exec(statusLine);
    if (match === null) return undefined;
    return new AnswerHead(Number(match[2]), match[1] === '1');
  }

  /** Takes a header line; false when the line is malformed. */
  add(line: string): boolean {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    // Also refuses a folded line and a name with a space after it, which servers read in different ways.
    if (!FIELD_NAME.test(name)) return false;
    const value = line.slice(colon + 1).trim();
    switch (name.toLowerCase()) {
      case 'content-length':
        if (this.#contentLength !== undefined || !/^\d{1,15}$/.test(value)) return false;
        this.#contentLength = Number(value);
        return true;
      case 'transfer-encoding':
        // Two of these headers are one list.
        this.#transferCoding = this.#transferCoding === undefined ? value.toLowerCase() : 'several';
        return true;
      case 'connection':
        if (/\bclose\b/i.test(value)) this.#persists = false;
        return true;
      case 'keep-alive':
        this.#keepAliveMs = announcedKeepAliveMs(value) ?? this.#keepAliveMs;
        return true;
      case 'retry-after':
        this.#retryAfter = value;
        return true;
      default:
        return true;
    }
  }

  /** `undefined` when the headers contradict each other. */
  bodyEnd(): BodyEnd | undefined {
    const length = this.#contentLength;
    if (length !== undefined && this.#transferCoding !== undefined) return undefined;
    if (this.status === 204 || this.status === 304) {
      // A body that such an answer announces all the same would be read as the next answer.
      if (length !== undefined && length > 0) this.#persists = false;
      if (this.#transferCoding !== undefined) this.#persists = false;
      return { kind: 'after_bytes', bytes: 0 };
    }
    if (this.#transferCoding === 'chunked') return { kind: 'after_last_chunk' };
    // Other codings are not decoded: the body is not used.
    if (length === undefined) return { kind: 'with_connection' };
    return { kind: 'after_bytes', bytes: length };
  }

  outcome(): Outcome {
    const { status } = this;
    const delayMs = retryAfterMs(this.#retryAfter, new Date());
    return { kind: 'answered', status, ...(delayMs !== undefined && { retryAfterMs: delayMs }) };
  }

  /** How long the connection may wait for the next request; 0 when the receiver closes the connection. */
  keepAliveMs(): number {
    return this.#persists ? this.#keepAliveMs : 0;
  }
}

function announcedKeepAliveMs(keepAlive: string): number | undefined {
  const timeoutS = /\btimeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  if (timeoutS === undefined) return undefined;
  const keepAliveMs = Number(timeoutS) * 1_000 - KEEP_ALIVE_MARGIN_MS;
  return Math.min(Math.max(keepAliveMs, 0), MAX_KEEP_ALIVE_MS);
}
