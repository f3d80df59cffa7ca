/** The egress: all requests to receivers, with checked URLs and addresses, and bounded pools and answers. */
import {
  buildEventUrl,
  checkEgressUrl,
  EgressDeniedError,
  type EgressPolicy,
} from '@creditlane/egress-rules/destination-url';
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { exchange, type OnSent, type Outcome } from './exchange.ts';
import { guardedDial, nameServers, type Resolve } from './guarded-dial.ts';

export interface EgressOptions extends EgressPolicy {
  readonly deadlineMs: number;
  /** The most connections to one destination. */
  readonly connectionsPerDestination: number;
  readonly resolve?: Resolve;
}

export interface Post {
  readonly destinationId: string;
  readonly destinationUrl: string;
  /** Appended to the destination's URL, such as "/application-booked". */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly onSent?: OnSent;
}

const MAX_POOLS = 1_024;
const MAX_ANSWER_BYTES = 64 * 1_024;
const MAX_ANSWER_HEADER_BYTES = 16 * 1_024;

export class Egress {
  readonly #options: EgressOptions;
  readonly #pools: LRUCache<string, Pool>;
  readonly #retired = new Set<Promise<void>>();
  #closed = false;
  readonly #dial: ReturnType<typeof guardedDial>;

  constructor(options: EgressOptions) {
    this.#options = options;
    this.#dial = guardedDial({
      allowLoopback: options.allowLoopback,
      timeoutMs: options.deadlineMs,
      resolve: options.resolve ?? nameServers(),
    });
    this.#pools = new LRUCache({ max: MAX_POOLS, dispose: (pool) => this.#retire(pool) });
  }

  /**
   * Posts one webhook and resolves to its outcome within the deadline. Resolves to `undefined` when
   * `close` ended the exchange, because its outcome then says nothing about the receiver. Never rejects.
   */
  async post({
    destinationId,
    destinationUrl,
    path,
    headers,
    body,
    onSent,
  }: Post): Promise<Outcome | undefined> {
    let url: URL;
    try {
      url = buildEventUrl(destinationUrl, path);
      checkEgressUrl(url, this.#options);
    } catch (error) {
      if (error instanceof EgressDeniedError) return { kind: 'failed', reason: error.code };
      throw error;
    }
    // undici's dispatch does not follow redirects: they are outcomes like other statuses.
    const outcome = await exchange(
      this.#poolOf(destinationId, url.origin),
      { path: url.pathname + url.search, headers, body },
      { deadlineMs: this.#options.deadlineMs, maxAnswerBytes: MAX_ANSWER_BYTES },
      onSent,
    );
    return this.#closed && outcome.kind === 'failed' ? undefined : outcome;
  }

  /** Closes all connections. Posts under way resolve to `undefined`. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pools.clear();
    await Promise.all(this.#retired);
  }

  /** Each destination has its own pool, so that none uses the connections of another at the same host. */
  #poolOf(destinationId: string, origin: string): Pool {
    const key = `${destinationId} ${origin}`;
    const existing = this.#pools.get(key);
    if (existing !== undefined) return existing;
    const pool = new Pool(origin, {
      connect: this.#dial,
      connections: this.#options.connectionsPerDestination,
      maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
      // The deadline of the exchange covers everything; undici's timers would cover parts of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: 60_000,
    });
    this.#pools.set(key, pool);
    return pool;
  }

  /** Closes a pool that left the cache. An evicted pool finishes its requests; `close` aborts them. */
  #retire(pool: Pool): void {
    const closing = (this.#closed ? pool.destroy() : pool.close()).finally(() => {
      this.#retired.delete(closing);
    });
    this.#retired.add(closing);
  }
}
