/** One POST and its answer on a pooled connection, under one deadline and one size limit. */
import { EgressDeniedError } from '@creditlane/egress-rules/destination-url';
import type { Dispatcher } from 'undici';
import { retryAfterMs } from './retry-after.ts';

/** How an exchange ended: the receiver answered, or no complete answer came. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number }
  | { readonly kind: 'failed'; readonly reason: string };

export interface ExchangeRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface ExchangeLimits {
  /** For the whole exchange: waiting for a connection, connecting, sending, and reading the answer. */
  readonly deadlineMs: number;
  /** How much of the answer's body is read before the connection is closed. */
  readonly maxAnswerBytes: number;
}

/** Called when the request's first byte is written to an open connection. */
export type OnSent = () => void;

/** Sends the request and resolves to its outcome; never rejects. The answer's body is read and discarded. */
export function exchange(
  pool: Dispatcher,
  request: ExchangeRequest,
  limits: ExchangeLimits,
  onSent: OnSent = () => {},
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const answer = new AnswerReader(limits, resolve, onSent);
  try {
    pool.dispatch({ ...request, method: 'POST' }, answer);
  } catch (error) {
    answer.onResponseError(undefined, error as Error);
  }
  return promise;
}

/** The connection's error when this side ends the exchange. */
class ExchangeAborted extends Error {
  override name = 'ExchangeAborted';
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #settle: (outcome: Outcome) => void;
  readonly #onSent: OnSent;
  readonly #maxAnswerBytes: number;
  readonly #deadline: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #outcome: Outcome = { kind: 'failed', reason: 'no_answer' };
  #answerBytes = 0;
  #ended = false;

  constructor(limits: ExchangeLimits, settle: (outcome: Outcome) => void, onSent: OnSent) {
    this.#settle = settle;
    this.#onSent = onSent;
    this.#maxAnswerBytes = limits.maxAnswerBytes;
    this.#deadline = setTimeout(
      () => this.#abort({ kind: 'failed', reason: 'deadline' }),
      limits.deadlineMs,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // When the deadline has passed while the request waited for a connection, nothing is sent.
    if (this.#ended) controller.abort(new ExchangeAborted());
    else this.#onSent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const header = headers['retry-after'];
    const delayMs = retryAfterMs(typeof header === 'string' ? header : undefined, new Date());
    this.#outcome = {
      kind: 'answered',
      status,
      ...(delayMs === undefined ? {} : { retryAfterMs: delayMs }),
    };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#answerBytes += chunk.length;
    // Only the status counts, so a body beyond the limit is no failure.
    if (this.#answerBytes > this.#maxAnswerBytes) this.#abort(this.#outcome);
  }

  onResponseEnd(): void {
    this.#end(this.#outcome);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end({ kind: 'failed', reason: reasonOf(error) });
  }

  #abort(outcome: Outcome): void {
    this.#end(outcome);
    this.#controller?.abort(new ExchangeAborted());
  }

  #end(outcome: Outcome): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#deadline);
    this.#settle(outcome);
  }
}

/** A stable word, not the error's message, which may quote what the receiver sent. */
function reasonOf(error: Error & { code?: unknown }): string {
  if (error instanceof EgressDeniedError) return error.code;
  return typeof error.code === 'string' ? error.code.toLowerCase() : 'connection_failed';
}
