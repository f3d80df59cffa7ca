/** A connection to a receiver, which carries one exchange at a time and limits what the receiver sends. */
import { type AnswerEnd, AnswerReader } from './answer-reader.ts';
import type { Exchange, Outcome } from './exchange.ts';
import { reasonOf } from './failures.ts';
import type { Dial } from './guarded-dial.ts';
import type { TlsSession, Transport } from './transport.ts';

/** Everything that comes during one exchange: heads, framing, body, and TLS records. */
const MAX_BYTES = 128 * 1_024;
/**
 * Arrivals from the network, pieces of data and TLS records during one exchange. Each costs 5 to 50 µs of
 * CPU however few bytes it has. An answer of 64 KiB in full TCP segments has 2 × 47.
 */
const MAX_PIECES = 128;
/** Bytes of TLS that are no data, such as session tickets, and of one record that is not complete. */
const MAX_TLS_OVERHEAD_BYTES = 20 * 1_024;
/** Everything that comes before the request is sent: the receiver's part of the TLS handshake. */
const MAX_HANDSHAKE_BYTES = 32 * 1_024;

/**
 * How long the rest of an answer may take after its head, whose status is the outcome whatever the rest is. Below the second
 * after which a destination counts as one that may hang.
 */
const MAX_REST_MS = 500;

/** How long a new connection is kept without a request: that of its first exchange was not to be sent any more when it was open. */
const UNSENT_KEPT_MS = 5_000;

export interface ConnectionOptions {
  readonly dial: Dial;
  readonly url: URL;
  /** The latest TLS session, which the next connection can continue. */
  readonly session: TlsSession | undefined;
  onSession(session: TlsSession): void;
  /** The connection can carry another exchange. */
  onIdle(connection: Connection): void;
  /** The connection closed before it sent the request of an exchange. */
  onUnsent(exchange: Exchange): void;
  /**
   * `unanswered` is an exchange to carry on a new connection: the receiver closed this one, which was kept from an earlier
   * exchange, before any byte of an answer. Receivers close idle connections, and the end and a request cross
   * (RFC 9112, 9.3.1); the receiver may have handled the request all the same.
   */
  onClosed(connection: Connection, unanswered?: Exchange): void;
}

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #transport: Transport;
  #isConnecting = true;
  /** Whether it waited without an exchange before the present one. */
  #isKept = false;
  #hasAnswered = false;
  /** Milliseconds since the epoch: when the receiver has to show its certificate again. */
  #endsAtMs = Number.POSITIVE_INFINITY;
  #isClosed = false;
  #exchange: Exchange | undefined;
  /** Set from sending a request until its answer has ended. */
  #answer: AnswerReader | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  /** By performance.now(): until when the receiver keeps the connection open. In the past before its first answer. */
  #keptUntilMs = 0;
  #bytes = 0;
  #dataBytes = 0;
  #pieces = 0;

  /** Connects, and then carries the exchange. */
  constructor(options: ConnectionOptions, exchange: Exchange) {
    this.#options = options;
    this.#take(exchange);
    const events = {
      onOpen: () => this.#opened(),
      onArrival: (bytes: number, records: number) => this.#arrived(bytes, records),
      onData: (bytes: Buffer) => this.#read(bytes),
      onClose: (error: Error | undefined) => this.#closed(error),
    };
    this.#transport = options.dial(options.url, events, options.session);
  }

  /** Carries another exchange. Call it only after `onIdle`. */
  carry(exchange: Exchange): void {
    this.#isKept = true;
    clearTimeout(this.#idleTimer);
    this.#take(exchange);
    // One turn of the event loop later, the end of a connection that the receiver closed has been read.
    setImmediate(() => {
      if (exchange.isEnded) return;
      if (this.#isUsable()) return this.#send(exchange);
      this.close();
      this.#options.onUnsent(exchange);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#transport.destroy();
  }

  /**
   * Bytes that came after the last answer and before the request would be taken for the request's answer. What
   * a receiver sends later without reading the request cannot be told from an answer, and concerns its own
   * deliveries alone.
   */
  #isUsable(): boolean {
    return !this.#isClosed && this.#transport.isWritable && !this.#transport.hasUnread();
  }

  #take(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.onDeadline(() => {
      exchange.end(this.#answer?.cut('deadline').outcome ?? { kind: 'failed', reason: 'deadline' });
      this.close();
    });
  }

  #opened(): void {
    this.#isConnecting = false;
    if (this.#exchange?.isEnded === false) this.#send(this.#exchange);
  }

  #send(exchange: Exchange): void {
    if (!exchange.beginSending()) {
      this.#exchange = undefined;
      if (!this.#hasAnswered) this.#keptUntilMs = performance.now() + UNSENT_KEPT_MS;
      this.#waitForExchange();
      return;
    }
    this.#bytes = 0;
    this.#dataBytes = 0;
    this.#pieces = 0;
    this.#answer = new AnswerReader(exchange.keptAnswerBytes);
    this.#transport.write(exchange.requestText());
  }

  #arrived(bytes: number, records: number): void {
    this.#bytes += bytes;
    this.#pieces += 1 + records;
    if (this.#isConnecting) {
      if (this.#bytes > MAX_HANDSHAKE_BYTES || this.#pieces > MAX_PIECES) {
        this.#exchange?.end({ kind: 'failed', reason: 'handshake_too_large' });
        this.close();
      }
    } else if (this.#answer === undefined) {
      // Bytes that come without a request are not the answer to the next one.
      this.close();
    } else {
      const exceeded = this.#exceededLimit();
      if (exceeded !== undefined) this.#finish(this.#answer.cut(exceeded));
    }
  }

  #exceededLimit(): string | undefined {
    if (this.#bytes > MAX_BYTES) return 'answer_too_large';
    if (this.#bytes - this.#dataBytes > MAX_TLS_OVERHEAD_BYTES) return 'answer_too_large';
    return this.#pieces > MAX_PIECES ? 'answer_too_fragmented' : undefined;
  }

  #read(bytes: Buffer): void {
    const answer = this.#answer;
    if (answer === undefined) return;
    this.#dataBytes += bytes.length;
    this.#pieces += 1;
    const exceeded = this.#exceededLimit();
    const end = exceeded === undefined ? answer.read(bytes) : answer.cut(exceeded);
    if (end !== undefined) this.#finish(end);
    else if (answer.hasStatus) {
      this.#restTimer ??= setTimeout(() => this.#finish(answer.cut('deadline')), MAX_REST_MS);
    }
  }

  #finish({ outcome, keepAliveMs }: AnswerEnd): void {
    const exchange = this.#exchange;
    clearTimeout(this.#restTimer);
    this.#restTimer = undefined;
    this.#answer = undefined;
    this.#exchange = undefined;
    exchange?.end(outcome);
    this.#keepSession();
    // A receiver that has answered before it has read the request reads the rest of it as the next one.
    this.#keptUntilMs = performance.now() + keepAliveMs;
    if (this.#transport.isWriting) this.close();
    else this.#waitForExchange();
  }

  /** Without an exchange, for as long as the receiver keeps the connection open. */
  #waitForExchange(): void {
    const keepMs = this.#keptUntilMs - performance.now();
    if (keepMs <= 0 || Date.now() >= this.#endsAtMs) {
      this.close();
    } else {
      this.#idleTimer = setTimeout(() => this.close(), keepMs);
      this.#options.onIdle(this);
    }
  }

  /** Once per connection, after an answer: session tickets come after the handshake. */
  #keepSession(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    const session = this.#transport.session();
    if (session === undefined) return;
    this.#endsAtMs = session.endsAtMs;
    this.#options.onSession(session);
  }

  #closed(error: Error | undefined): void {
    const exchange = this.#exchange?.isEnded ? undefined : this.#exchange;
    const isSent = this.#answer !== undefined;
    const isUnanswered = this.#isKept && !this.#isClosed && isSent && this.#dataBytes === 0;
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#restTimer);
    if (isUnanswered) this.#options.onClosed(this, exchange);
    else {
      // An exchange that was taken from idle and not sent goes to another connection.
      if (isSent || this.#isConnecting) exchange?.end(this.#outcomeWithoutEnd(error));
      this.#options.onClosed(this);
    }
  }

  /** Of the exchange whose connection has closed before its answer ended. */
  #outcomeWithoutEnd(error: Error | undefined): Outcome {
    const reason = reasonOf(error);
    const end = error === undefined ? this.#answer?.endWithConnection() : this.#answer?.cut(reason);
    return end?.outcome ?? { kind: 'failed', reason };
  }
}
