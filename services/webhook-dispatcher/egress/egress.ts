/** The egress: all requests to receivers, with checked URLs and addresses, and bounded pools and answers. */
import {
  buildEventUrl,
  checkEgressUrl,
  EgressDeniedError,
  type EgressPolicy,
} from '@creditlane/egress-rules/destination-url';
import { nameServers, type Resolve } from '@creditlane/egress-rules/guarded-lookup';
import { LRUCache } from 'lru-cache';
import { ConnectionPool } from './connection-pool.ts';
import { Exchange, type ExchangeRequest, type Outcome, type SendingHooks } from './exchange.ts';
import { type DialOptions, guardedDial } from './guarded-dial.ts';
import { IdleConnectionLimit } from './idle-connection-limit.ts';

export interface EgressOptions extends EgressPolicy, Pick<DialOptions, 'authorities'> {
  readonly deadlineMs: number;
  /** The most connections to one destination. */
  readonly connectionsPerDestination: number;
  /** The most connections without a request, to all destinations together. */
  readonly maxIdleConnections: number;
  readonly resolve?: Resolve;
}

export interface Post extends SendingHooks, Pick<ExchangeRequest, 'keptAnswerBytes'> {
  readonly destinationId: string;
  readonly destinationUrl: string;
  /** Appended to the destination's URL, such as "/application-booked". */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** A deadline of this exchange alone. It counts only when it is earlier than the `deadlineMs` of the egress. */
  readonly ownDeadlineMs?: number;
}

const MAX_POOLS = 1_024;

/**
 * The connections are on the thread that talks to the database. Another thread would cost each delivery
 * 21 µs more CPU at low load and 2 µs in batches of 64, beside the 21 µs of an exchange; and no answer holds
 * the event loop for more than about 5 ms. undici costs 28 µs per exchange and reads any number of interim
 * answers, chunk extensions and trailers: up to the deadline's whole time in CPU.
 */
export class Egress {
  readonly #options: EgressOptions;
  readonly #pools: LRUCache<string, ConnectionPool>;
  readonly #idle: IdleConnectionLimit;
  /** Pools that left the cache and have a connection. */
  readonly #retired = new Map<ConnectionPool, Promise<void>>();
  #closed = false;
  readonly #dial: ReturnType<typeof guardedDial>;

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#dial = guardedDial({
      allowLoopback: options.allowLoopback,
      authorities: options.authorities,
      resolve: options.resolve ?? nameServers(),
    });
    this.#idle = new IdleConnectionLimit(options.maxIdleConnections);
    this.#pools = new LRUCache({ max: MAX_POOLS, dispose: (pool) => this.#retire(pool) });
  }

  /**
   * Posts one webhook and resolves to its outcome within the deadline. Resolves to `undefined` when
   * `close` ended the exchange, because its outcome then says nothing about the receiver, and without a
   * request after `close` or when `maySend` said no. Never rejects.
   */
  async post({
    destinationId,
    destinationUrl,
    path,
    headers,
    body,
    keptAnswerBytes,
    ownDeadlineMs = Infinity,
    ...hooks
  }: Post): Promise<Outcome | undefined> {
    let url: URL;
    try {
      url = buildEventUrl(destinationUrl, path);
      checkEgressUrl(url, this.#options);
    } catch (error) {
      if (error instanceof EgressDeniedError) return { kind: 'failed', reason: error.code };
      throw error;
    }
    if (this.#closed) return undefined;
    const deadlineMs = Math.min(this.#options.deadlineMs, ownDeadlineMs);
    const exchange = new Exchange({ url, headers, body, keptAnswerBytes }, deadlineMs, hooks);
    this.#poolOf(destinationId, url).carry(exchange);
    const outcome = await exchange.outcome;
    return this.#closed && outcome?.kind === 'failed' ? undefined : outcome;
  }

  /** Closes all connections. Posts under way resolve to `undefined`. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const pool of this.#retired.keys()) void pool.destroy();
    this.#pools.clear();
    await Promise.all(this.#retired.values());
  }

  /** Each destination has its own pool, so that none uses the connections of another at the same host. */
  #poolOf(destinationId: string, url: URL): ConnectionPool {
    const key = `${destinationId} ${url.origin}`;
    const existing = this.#pools.get(key);
    if (existing !== undefined) return existing;
    const pool = new ConnectionPool({
      dial: this.#dial,
      url,
      maxConnections: this.#options.connectionsPerDestination,
      allIdle: this.#idle,
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Closes a pool that left the cache: once its requests have ended, or at once when the egress is closed. */
  #retire(pool: ConnectionPool): void {
    const closing = this.#closed ? pool.destroy() : pool.close();
    this.#retired.set(
      pool,
      closing.finally(() => this.#retired.delete(pool)),
    );
  }
}
