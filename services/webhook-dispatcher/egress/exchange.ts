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
  /** For everything: waiting for a connection, dialling, sending, and the whole answer. */
  readonly deadlineMs: number;
  /** How much of the answer's body is read before the connection is given up. */
  readonly maxAnswerBytes: number;
}

/** Is told when the first byte goes out, on a connection that is there. */
export type OnSent = () => void;

/** Sends the request and gives how it ended; never rejects. The answer's body is read, not kept. */
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

/** Why the exchange was cut short by ourselves, as the connection's error. */
class CutShort extends Error {
  override name = 'CutShort';
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #settle: (outcome: Outcome) => void;
  readonly #onSent: OnSent;
  readonly #maxAnswerBytes: number;
  readonly #deadline: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #outcome: Outcome = { kind: 'failed', reason: 'no_answer' };
  #answerBytes = 0;
  #over = false;

  constructor(limits: ExchangeLimits, settle: (outcome: Outcome) => void, onSent: OnSent) {
    this.#settle = settle;
    this.#onSent = onSent;
    this.#maxAnswerBytes = limits.maxAnswerBytes;
    this.#deadline = setTimeout(
      () => this.#cutShort({ kind: 'failed', reason: 'deadline' }),
      limits.deadlineMs,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The deadline may have passed while the request waited for its connection: then nothing is sent.
    if (this.#over) controller.abort(new CutShort());
    else this.#onSent();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    const asked = headers['retry-after'];
    const pauseMs = retryAfterMs(typeof asked === 'string' ? asked : undefined, new Date());
    this.#outcome = {
      kind: 'answered',
      status,
      ...(pauseMs === undefined ? {} : { retryAfterMs: pauseMs }),
    };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#answerBytes += chunk.length;
    // The status says all that counts: what lies beyond the limit is not worth a failure.
    if (this.#answerBytes > this.#maxAnswerBytes) this.#cutShort(this.#outcome);
  }

  onResponseEnd(): void {
    this.#end(this.#outcome);
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.#end({ kind: 'failed', reason: reasonOf(error) });
  }

  #cutShort(outcome: Outcome): void {
    this.#end(outcome);
    this.#controller?.abort(new CutShort());
  }

  #end(outcome: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#deadline);
    this.#settle(outcome);
  }
}

/** A stable word: never the error's own text, which may hold what the receiver sent. */
function reasonOf(error: Error & { code?: unknown }): string {
  if (error instanceof EgressDeniedError) return error.code;
  return typeof error.code === 'string' ? error.code.toLowerCase() : 'connection_failed';
}
