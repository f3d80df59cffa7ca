/** Calls between the relays of one outbox: "there is something for whoever has its shard". */
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { WakeSignal } from '@creditlane/runtime/concurrency/wake-signal';
import type { Log } from '@creditlane/runtime/telemetry/log';
import pg from 'pg';

const CHANNEL = 'outbox';
/**
 * At most so often one relay calls the others. Nobody waits for it: the first call goes out at once,
 * and those that are made meanwhile become one.
 */
const CALL_EVERY_MS = 5;
const RECONNECT = { baseMs: 250, capMs: 5_000 };

/**
 * Calls and hears calls, on one connection of its own. A NOTIFY inside the transaction that writes
 * would make all such transactions commit one after the other; here it is a statement by itself,
 * after them. Calls are lost while the connection is: the relay's poll is the net.
 */
export class RelayNotifications {
  readonly #pool: pg.Pool;
  readonly #log: Log;
  readonly #onCall: () => void;
  readonly #stop = new AbortController();
  readonly #listening: Promise<void>;
  #client: pg.Client | undefined;
  #wanted = false;
  #calling: Promise<void> | undefined;

  /** Begins to listen; it connects as the pool does. `onCall` hears every call, its own as well. */
  constructor(pool: pg.Pool, log: Log, onCall: () => void) {
    this.#pool = pool;
    this.#log = log;
    this.#onCall = onCall;
    this.#listening = this.#listen();
  }

  /** Calls the others, soon; returns at once. */
  call(): void {
    this.#wanted = true;
    if (this.#client !== undefined) this.#calling ??= this.#callWhileWanted(this.#client);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#calling;
    await this.#listening;
  }

  async #callWhileWanted(client: pg.Client): Promise<void> {
    const pause = new WakeSignal();
    while (this.#wanted && client === this.#client) {
      this.#wanted = false;
      try {
        await client.query(`NOTIFY ${CHANNEL}`);
      } catch (err) {
        this.#log.debug({ err }, 'other relays not called; they find by themselves what there is');
      }
      await pause.wait(CALL_EVERY_MS, this.#stop.signal);
    }
    this.#calling = undefined;
  }

  async #listen(): Promise<void> {
    const { signal: stop } = this.#stop;
    const pause = new WakeSignal();
    for (let failures = 0; !stop.aborted; ) {
      // The pool's own options: spread, they would lose the password.
      const client = new pg.Client(this.#pool.options);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      // Told twice of the same end, it ends once.
      client.on('end', end).on('error', () => end());
      client.on('notification', this.#onCall);
      const onStop = () => end();
      stop.addEventListener('abort', onStop);
      try {
        await client.connect();
        await client.query(`LISTEN ${CHANNEL}`);
        failures = 0;
        this.#client = client;
        // Whatever was called before is not heard any more.
        this.#onCall();
        if (!stop.aborted) await ended;
      } catch (err) {
        this.#log.debug({ err }, 'not listening to other relays');
      }
      this.#client = undefined;
      stop.removeEventListener('abort', onStop);
      await this.#calling;
      await client.end().catch((err) => this.#log.debug({ err }, 'connection to hear calls lost'));
      failures += 1;
      await pause.wait(backoffMs(failures, RECONNECT), stop);
    }
  }
}
