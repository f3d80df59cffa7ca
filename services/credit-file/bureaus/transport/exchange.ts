/** One HTTP request to a bureau, and how it ended: answered, lost after a byte may have been sent, or unsent. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { BureauRequest } from '../bureau.ts';
import { type LostReason, NotSentError } from './inquiry-outcome.ts';
import { isCertificateRefused } from './refused-certificate.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** False when only the end of the connection ended the body, so that a cut one looks whole. */
  readonly isDelimited: boolean;
}

export type ExchangeEnd =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  /** No byte of the request was written, or the bureau read none. */
  | { readonly kind: 'unsent'; readonly error: Error }
  | { readonly kind: 'lost'; readonly reason: LostReason };

/** The times are those of the exchange's clock. */
export interface ExchangeLimits {
  /** A request that no connection has taken by then is not sent. */
  readonly sendByMs: number;
  /** The end of the whole exchange. */
  readonly endsAtMs: number;
  readonly maxAnswerBytes: number;
}

/**
 * undici calls `onRequestStart` in the turn in which it writes the request to an open connection, right
 * before the first byte, so an error without that call proves that no byte was sent. A connection that was
 * idle is first given a turn of the event loop, in which undici reads that the bureau has closed it.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #limits: ExchangeLimits;
  readonly #nowMs: () => number;
  readonly #settle: (end: ExchangeEnd) => void;
  readonly #ended: Promise<ExchangeEnd>;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  #isSent = false;
  #controller: Dispatcher.DispatchController | undefined;
  #head: Pick<HttpAnswer, 'status' | 'headers'> | undefined;

  /** @param nowMs of a monotonic clock */
  constructor(limits: ExchangeLimits, nowMs: () => number) {
    const { promise, resolve } = Promise.withResolvers<ExchangeEnd>();
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.#ended = promise;
    this.#settle = resolve;
  }

  /** Sends the request at most once, and resolves to how that ended. Never rejects. */
  run(dispatcher: Dispatcher, request: BureauRequest): Promise<ExchangeEnd> {
    if (this.#isTooLate()) this.abortUnsent('deadline');
    if (this.#isEnded) return this.#ended;
    const { sendByMs, endsAtMs } = this.#limits;
    const nowMs = this.#nowMs();
    const url = new URL(request.url);
    this.#timers.push(
      setTimeout(() => this.abortUnsent('deadline'), Math.max(0, sendByMs - nowMs)),
      setTimeout(() => this.abort('deadline'), Math.max(0, endsAtMs - nowMs)),
    );
    dispatcher.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: { ...request.headers, 'accept-encoding': 'gzip' },
        // One buffer: undici writes it together with the head, and never in a later turn.
        body: Buffer.from(request.body),
        idempotent: false,
        // After the request is sent only the deadline ends the exchange: ending it earlier would make
        // an outcome unknown that may still become known.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      this,
    );
    return this.#ended;
  }

  /** Ends the exchange: unsent if no byte was written, and lost otherwise. */
  abort(code: 'deadline' | 'stopping'): void {
    const error = new NotSentError(code);
    this.#endWithout(error, code);
    this.#controller?.abort(error);
  }

  /** Ends the exchange unless its request was sent. */
  abortUnsent(code: 'deadline' | 'stopping'): void {
    if (!this.#isSent) this.abort(code);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici puts a request back into its queue when it closes a connection itself. A second start of the
    // same request would be a second inquiry.
    if (this.#isEnded || this.#isSent) {
      controller.abort(new NotSentError('stopping'));
      return;
    }
    this.#controller = controller;
    // In a process that was suspended, a connection may be opened before a timer that is due is called.
    if (this.#isTooLate()) {
      this.abortUnsent('deadline');
      return;
    }
    this.#isSent = true;
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#head = { status, headers };
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#limits.maxAnswerBytes) {
      this.#chunks.push(chunk);
      return;
    }
    const error = new Error('the answer is too large');
    this.#endWithout(error, 'answer_too_large');
    controller.abort(error);
  }

  onResponseEnd(): void {
    if (this.#head === undefined) {
      this.#endWithout(new Error('an answer without a head'), 'connection_lost');
      return;
    }
    const { status, headers } = this.#head;
    const isDelimited =
      status === 204 ||
      headers['content-length'] !== undefined ||
      headers['transfer-encoding'] !== undefined;
    const answer = { ...this.#head, body: Buffer.concat(this.#chunks), isDelimited };
    this.#end({ kind: 'answered', answer });
  }

  onResponseError(_: unknown, error: Error): void {
    // The request was written before the bureau refused the handshake, and no byte of it was read.
    if (isCertificateRefused(error)) {
      this.#end({ kind: 'unsent', error });
      return;
    }
    this.#endWithout(error, 'connection_lost');
  }

  #isTooLate(): boolean {
    return this.#nowMs() >= this.#limits.sendByMs;
  }

  #endWithout(error: Error, reason: LostReason): void {
    this.#end(this.#isSent ? { kind: 'lost', reason } : { kind: 'unsent', error });
  }

  /** The first end counts. */
  #end(end: ExchangeEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#settle(end);
  }
}
