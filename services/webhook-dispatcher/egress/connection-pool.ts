/** The connections to the receiver of one destination. */
import { Connection } from './connection.ts';
import type { Exchange } from './exchange.ts';
import type { Dial } from './guarded-dial.ts';
import type { IdleConnectionLimit } from './idle-connection-limit.ts';
import type { TlsSession } from './transport.ts';

/** A longer TLS session, such as one with a receiver's long certificate chain, is not kept. */
const MAX_SESSION_BYTES = 8 * 1_024;

export interface ConnectionPoolOptions {
  readonly dial: Dial;
  readonly url: URL;
  readonly maxConnections: number;
  /** Shared by all pools. When too many connections are idle, it may close one of this pool. */
  readonly allIdle: IdleConnectionLimit;
}

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #connections = new Set<Connection>();
  /** The last one is used first, so that connections that are not needed close. */
  readonly #idle: Connection[] = [];
  readonly #waiting: Exchange[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #isClosing = false;
  #isDestroyed = false;
  #session: TlsSession | undefined;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  /** Sends the exchange's request as soon as a connection is free. */
  carry(exchange: Exchange): void {
    const { maxConnections, allIdle } = this.#options;
    const idle = this.#idle.pop();
    if (idle !== undefined) allIdle.delete(idle);
    if (this.#isDestroyed) exchange.end({ kind: 'failed', reason: 'connection_closed' });
    else if (idle !== undefined) idle.carry(exchange);
    else if (this.#connections.size < maxConnections) this.#connect(exchange);
    else this.#waiting.push(exchange);
  }

  /** Closes the connections when the exchanges have ended; resolves after that. */
  close(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#idle.splice(0)) connection.close();
    this.#resolveIfClosed();
    return this.#closed.promise;
  }

  /** Closes the connections now: exchanges under way fail, and those that wait for a connection too. */
  destroy(): Promise<void> {
    this.#isDestroyed = true;
    for (const exchange of this.#waiting.splice(0)) {
      exchange.end({ kind: 'failed', reason: 'connection_closed' });
    }
    for (const connection of this.#connections) connection.close();
    return this.close();
  }

  #connect(exchange: Exchange): void {
    const { dial, url } = this.#options;
    const connection = new Connection(
      {
        dial,
        url,
        session: this.#currentSession(),
        onSession: (session) => {
          if (session.ticket.length <= MAX_SESSION_BYTES) this.#session = session;
        },
        onIdle: (idle) => this.#use(idle),
        onUnsent: (unsent) => this.carry(unsent),
        onClosed: (closed, unanswered) => this.#remove(closed, unanswered),
      },
      exchange,
    );
    this.#connections.add(connection);
  }

  #currentSession(): TlsSession | undefined {
    if (this.#session !== undefined && this.#session.endsAtMs <= Date.now()) {
      this.#session = undefined;
    }
    return this.#session;
  }

  #use(idle: Connection): void {
    const next = this.#nextWaiting();
    if (next !== undefined) idle.carry(next);
    else if (this.#isClosing) idle.close();
    else {
      this.#idle.push(idle);
      this.#options.allIdle.add(idle);
    }
  }

  /** An unanswered exchange comes before those that wait. No other kept connection carries it, which may have ended, too. */
  #remove(closed: Connection, unanswered: Exchange | undefined): void {
    this.#connections.delete(closed);
    this.#options.allIdle.delete(closed);
    const at = this.#idle.indexOf(closed);
    if (at !== -1) this.#idle.splice(at, 1);
    const next = unanswered ?? this.#nextWaiting();
    if (next !== undefined) this.#connect(next);
    this.#resolveIfClosed();
  }

  #nextWaiting(): Exchange | undefined {
    let next = this.#waiting.shift();
    while (next?.isEnded) next = this.#waiting.shift();
    return next;
  }

  #resolveIfClosed(): void {
    if (this.#isClosing && this.#connections.size === 0) this.#closed.resolve();
  }
}
