/** One POST and its one outcome, under one deadline. */

/** How an exchange ended: the head of an answer came whole, or none did. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs?: number;
      /** The beginning of the body, where the request asks for it. */
      readonly bodyStart?: string;
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** Whether the receiver has accepted the webhook. */
export const isSuccess = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && isSuccessStatus(outcome.status);

/** Of a 4xx: the receiver could not take the request at the time. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether the receiver, which works, refuses this one webhook: a 4xx that says nothing about others. */
export const isRefusal = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' &&
  outcome.status >= 400 &&
  outcome.status < 500 &&
  !TRANSIENT_STATUSES.has(outcome.status);

export const isSuccessStatus = (status: number): boolean => status >= 200 && status < 300;

/** How much of the body of an answer with the status is kept. */
export type KeptAnswerBytes = (status: number) => number;

export interface ExchangeRequest {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** How much of the answer's body the outcome has; by default none. */
  readonly keptAnswerBytes?: KeptAnswerBytes | undefined;
}

export interface SendingHooks {
  /**
   * Asked just before the request's first byte is written to an open connection; false ends the exchange without a
   * request. Dialling takes time, in which the right to send may have passed to another process, or ended with a pause.
   */
  readonly maySend?: (() => boolean) | undefined;
  /** Called when the request's first byte is written. */
  readonly onSent?: (() => void) | undefined;
}

export class Exchange {
  /** `undefined` when the request was not to be sent any more. */
  readonly outcome: Promise<Outcome | undefined>;
  readonly #hooks: SendingHooks;
  readonly #request: ExchangeRequest;
  readonly #settle: (outcome: Outcome | undefined) => void;
  readonly #deadline: NodeJS.Timeout;
  /** Set from the deadline until the exchange ends. */
  #overdue: NodeJS.Immediate | undefined;
  #isEnded = false;
  #isSent = false;
  #onDeadline: () => void = () => {};

  /** `deadlineMs` covers waiting for a connection, connecting, sending, and reading the answer. */
  constructor(request: ExchangeRequest, deadlineMs: number, hooks: SendingHooks = {}) {
    const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
    this.outcome = promise;
    this.#hooks = hooks;
    this.#request = request;
    this.#settle = resolve;
    this.#deadline = setTimeout(() => {
      // Node runs timers before it reads sockets. When the process was stopped past the deadline, an answer may have arrived
      // that is not read yet: the exchange ends after the next reads.
      this.#overdue = setImmediate(() => {
        this.#onDeadline();
        this.end({ kind: 'failed', reason: 'deadline' });
      });
    }, deadlineMs);
  }

  get keptAnswerBytes(): KeptAnswerBytes | undefined {
    return this.#request.keptAnswerBytes;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Calls `listener` when the deadline passes before the exchange has ended. Unless `listener` ends the exchange, it fails.
   * The last listener counts.
   */
  onDeadline(listener: () => void): void {
    this.#onDeadline = listener;
  }

  /** Call it just before the request is written. False when it must not be: the exchange has then ended. */
  beginSending(): boolean {
    if (this.#overdue !== undefined) {
      // Only the answer to a request that was sent in time is still read.
      this.end({ kind: 'failed', reason: 'deadline' });
      return false;
    }
    if (this.#hooks.maySend?.() === false) {
      this.end(undefined);
      return false;
    }
    // A request that is sent again on another connection was sent before.
    if (!this.#isSent) this.#hooks.onSent?.();
    this.#isSent = true;
    return true;
  }

  /** The first end counts. */
  end(outcome: Outcome | undefined): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#deadline);
    clearImmediate(this.#overdue);
    this.#settle(outcome);
  }

  /** The request as it is sent. */
  requestText(): string {
    const { url, headers, body } = this.#request;
    let text = `POST ${url.pathname}${url.search} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: keep-alive\r\n`;
    for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
    return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }
}
