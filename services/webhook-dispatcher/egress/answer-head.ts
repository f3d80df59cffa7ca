/** The head of an answer: its status, and the headers that this client honours. */
import { retryAfterMs } from '@creditlane/runtime/http/retry-after';
import type { Outcome } from './exchange.ts';

/** How the end of the body is found; 'unknown' when the headers contradict each other about it. */
export type BodyEnd =
  | { readonly kind: 'after_bytes'; readonly bytes: number }
  | { readonly kind: 'after_last_chunk' | 'with_connection' | 'unknown' };

/** Servers announce these versions, and answer as in HTTP/1.1 under all of them. */
const STATUS_LINE = /^HTTP\/(?:0\.9|1\.0|1\.1|2\.0) +([1-9]\d\d)(?:\s|$)/;
/** A connection persists by itself after an answer of HTTP/1.1 alone. */
const PERSISTENT = /^HTTP\/1\.1 \d{3}(?: |$)/;
/** A length, which two equal headers make a list. */
const LENGTH = /^(\d{1,15})(?:\s*,\s*\1)*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what is looked for.
const CONTROL_CHARACTER = /[\x00-\x08\x0a-\x1f\x7f]/;
const FIELD_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;

/** An idle connection is closed this long before the time that its receiver announced. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const DEFAULT_KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 60_000;

/**
 * A head of any kind that at least two of curl, urllib of Python and Node's fetch take (`odd-answers.test.ts`). One that breaks a
 * rule of HTTP is malformed: its status counts all the same, but its connection carries no other request, because
 * receivers, proxies and this client may not agree where the answer ends.
 */
export class AnswerHead {
  readonly status: number;
  #persists: boolean;
  #isMalformed: boolean;
  #hasFields = false;
  #keepAliveMs = DEFAULT_KEEP_ALIVE_MS;
  /** NaN when it is uncertain. */
  #contentLength: number | undefined;
  #transferCoding: string | undefined;
  #retryAfter: string | undefined;

  private constructor(status: number, persists: boolean, isMalformed: boolean) {
    this.status = status;
    this.#persists = persists;
    this.#isMalformed = isMalformed;
  }

  /** A head that begins with this line; `undefined` when the line is no status line. */
  static startingWith(statusLine: string, isAfterBlankLines: boolean): AnswerHead | undefined {
    const match = STATUS_LINE.exec(statusLine);
    if (match === null) return undefined;
    const isMalformed = isAfterBlankLines || CONTROL_CHARACTER.test(statusLine);
    return new AnswerHead(Number(match[1]), PERSISTENT.test(statusLine), isMalformed);
  }

  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** Takes a header line; false when the answer is then none. */
  add(line: string): boolean {
    if (/^[ \t]/.test(line)) {
      // The rest of the header before it.
      this.#isMalformed = true;
      return this.#hasFields;
    }
    const colon = line.indexOf(':');
    if (colon === -1 || line.includes('\0')) return false;
    this.#hasFields = true;
    const name = line.slice(0, colon);
    if (!FIELD_NAME.test(name) || CONTROL_CHARACTER.test(line)) this.#isMalformed = true;
    return this.#addField(name.trimEnd().toLowerCase(), line.slice(colon + 1).trim());
  }

  #addField(name: string, value: string): boolean {
    switch (name) {
      case 'content-length':
        return this.#addContentLength(value);
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
        // The first of several counts, as in a list.
        this.#retryAfter ??= value;
        return true;
      default:
        return true;
    }
  }

  #addContentLength(value: string): boolean {
    const length = Number(LENGTH.exec(value)?.[1]);
    if (this.#contentLength !== undefined || String(length) !== value) this.#isMalformed = true;
    const isCertain = this.#contentLength === undefined || this.#contentLength === length;
    this.#contentLength = isCertain ? length : Number.NaN;
    return /^\+?\d/.test(value);
  }

  bodyEnd(): BodyEnd {
    const length = this.#contentLength;
    if (this.status === 204 || this.status === 304) {
      // A body that such an answer announces all the same would be read as the next answer.
      if (length || this.#transferCoding !== undefined) this.#isMalformed = true;
      return { kind: 'after_bytes', bytes: 0 };
    }
    if (this.#transferCoding !== undefined) {
      if (length !== undefined) this.#isMalformed = true;
      // Other codings are not decoded: the body is not used.
      return { kind: this.#transferCoding === 'chunked' ? 'after_last_chunk' : 'with_connection' };
    }
    if (length === undefined) return { kind: 'with_connection' };
    return Number.isNaN(length) ? { kind: 'unknown' } : { kind: 'after_bytes', bytes: length };
  }

  outcome(): Outcome {
    const { status } = this;
    const delayMs = retryAfterMs(this.#retryAfter, Date.now());
    return { kind: 'answered', status, ...(delayMs !== undefined && { retryAfterMs: delayMs }) };
  }

  /** How long the connection may wait for the next request; 0 when the receiver closes the connection. */
  keepAliveMs(): number {
    return this.#persists && !this.#isMalformed ? this.#keepAliveMs : 0;
  }
}

function announcedKeepAliveMs(keepAlive: string): number | undefined {
  const timeoutS = /\btimeout=(\d{1,6})/i.exec(keepAlive)?.[1];
  if (timeoutS === undefined) return undefined;
  const keepAliveMs = Number(timeoutS) * 1_000 - KEEP_ALIVE_MARGIN_MS;
  return Math.min(Math.max(keepAliveMs, 0), MAX_KEEP_ALIVE_MS);
}
