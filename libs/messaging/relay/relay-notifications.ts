/** Notifications between the relays of one outbox: an event was written to a shard of another relay, or a relay lives. */
import { randomUUID } from 'node:crypto';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import pg from 'pg';

const CHANNEL = 'outbox';
/** Relays that hold less than all shards announce themselves here by an id. */
const RELAYS_CHANNEL = 'outbox_relays';
/** A relay that closes, or cannot publish, sends its id here, so that its share goes to the others at once. */
const WITHDRAWN_CHANNEL = 'outbox_relays_closed';
/**
 * The shortest time between two notifications of one relay. No event waits for it: the first
 * notification is sent at once, and those of the next 5 ms become one.
 */
const NOTIFY_EVERY_MS = 5;
const RECONNECT = { baseMs: 250, capMs: 5_000 };

/**
 * Sends and receives notifications on a connection of its own. A NOTIFY inside the transaction that
 * writes an event would make all such transactions commit one after the other; here it is a statement
 * by itself, after them. Notifications are lost while the connection is: the relay's poll finds the
 * events then.
 */
export class RelayNotifications {
  readonly #pool: pg.Pool;
  readonly #log: Log;
  readonly #onNotification: () => void;
  readonly #id = randomUUID();
  /** When each other relay announced itself last, by its id. */
  readonly #announcedMs = new Map<string, number>();
  readonly #stop = new AbortController();
  readonly #listening: Promise<void>;
  /** Set while it is connected and listens. */
  #client: pg.Client | undefined;
  #isPending = false;
  #sending: Promise<void> | undefined;

  /**
   * Starts to listen, with the pool's connection options. `onNotification` is called for every
   * notification of an event, those of this relay included, and after each connect.
   */
  constructor(pool: pg.Pool, log: Log, onNotification: () => void) {
    this.#pool = pool;
    this.#log = log;
    this.#onNotification = onNotification;
    this.#listening = this.#listen();
  }

  /** Notifies the other relays within `NOTIFY_EVERY_MS`; returns at once. */
  notify(): void {
    this.#isPending = true;
    if (this.#client !== undefined) this.#sending ??= this.#sendPending(this.#client);
  }

  /** Tells the others that this relay would hold more shards, unless its connection is lost; returns at once. */
  announce(): void {
    const client = this.#client;
    client?.query('SELECT pg_notify($1, $2)', [RELAYS_CHANNEL, this.#id]).catch((err) => {
      this.#log.debug({ err }, 'the relay was not announced to the others');
      disconnect(client);
    });
  }

  /** Tells the others that this relay takes no shards until it announces itself again; returns at once. */
  withdraw(): void {
    void this.#sendWithdrawal();
  }

  /** How many other relays have announced themselves within this time and have not withdrawn since. */
  count(withinMs: number): number {
    const sinceMs = performance.now() - withinMs;
    for (const [id, atMs] of this.#announcedMs) {
      if (atMs < sinceMs) this.#announcedMs.delete(id);
    }
    return this.#announcedMs.size;
  }

  /** Tells the others that this relay has closed. The relay has released its shards before, and announces itself no more. */
  async close(): Promise<void> {
    await this.#sendWithdrawal();
    this.#stop.abort();
    await this.#sending;
    await this.#listening;
  }

  async #sendWithdrawal(): Promise<void> {
    await this.#client
      ?.query('SELECT pg_notify($1, $2)', [WITHDRAWN_CHANNEL, this.#id])
      .catch((err) =>
        this.#log.debug({ err }, 'the others count the withdrawn relay until its time is over'),
      );
  }

  #receive({ channel, payload = '' }: pg.Notification): void {
    if (channel === WITHDRAWN_CHANNEL) this.#announcedMs.delete(payload);
    else if (channel !== RELAYS_CHANNEL) this.#onNotification();
    else if (payload !== this.#id) this.#announcedMs.set(payload, performance.now());
  }

  async #sendPending(client: pg.Client): Promise<void> {
    while (this.#isPending && client === this.#client) {
      this.#isPending = false;
      try {
        await client.query(`NOTIFY ${CHANNEL}`);
      } catch (err) {
        this.#log.debug({ err }, 'other relays were not notified; their poll finds the events');
        disconnect(client);
      }
      await pause(NOTIFY_EVERY_MS, this.#stop.signal);
    }
    this.#sending = undefined;
  }

  async #listen(): Promise<void> {
    const { signal: stop } = this.#stop;
    for (let failures = 0; !stop.aborted; ) {
      // The class of the pool's clients, which may ask for a new password. The pool's own options object: a spread copy
      // would lose the password.
      const { options } = this.#pool;
      const Client = (options.Client ?? pg.Client) as typeof pg.Client;
      const client = new Client(options);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      // `end` and `error` can both fire for one connection; the promise resolves once.
      client.on('end', end).on('error', () => end());
      client.on('notification', (notification) => this.#receive(notification));
      const onStop = () => end();
      stop.addEventListener('abort', onStop);
      try {
        await client.connect();
        await client.query(`LISTEN ${RELAYS_CHANNEL}`);
        await client.query(`LISTEN ${WITHDRAWN_CHANNEL}`);
        await client.query(`LISTEN ${CHANNEL}`);
        failures = 0;
        this.#client = client;
        // Notifications that were sent before LISTEN are not received.
        this.#onNotification();
        if (!stop.aborted) await ended;
      } catch (err) {
        this.#log.debug({ err }, 'not listening for notifications of other relays');
      }
      this.#client = undefined;
      stop.removeEventListener('abort', onStop);
      await this.#sending;
      await client
        .end()
        .catch((err) => this.#log.debug({ err }, 'the connection for notifications was lost'));
      failures += 1;
      await pause(backoffMs(failures, RECONNECT), stop);
    }
  }
}

/**
 * Ends a connection on which a query failed, so that `#listen` makes another one. When the network has dropped a connection
 * silently, the query fails by `query_timeout`; TCP would notice only after minutes.
 */
function disconnect(client: pg.Client): void {
  void client.end().catch(() => undefined);
}
