/** Knows whether the database answers, without a question on the path of a request or a probe. */
import type { Log } from '@creditlane/runtime/log';
import { Wake } from '@creditlane/runtime/wake';
import type pg from 'pg';
import { statement } from './statement.ts';

const BEAT_MS = 2_000;

const beat = statement('heartbeat', 'SELECT');

export class Heartbeat {
  readonly #pool: pg.Pool;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #state: true | string = true;

  constructor(pool: pg.Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
    this.#running = this.#run();
  }

  ready(): true | string {
    return this.#state;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const pause = new Wake();
    while (!this.#stop.signal.aborted) {
      await this.#ask();
      await pause.wait(BEAT_MS, this.#stop.signal);
    }
  }

  async #ask(): Promise<void> {
    try {
      await beat.run(this.#pool);
      if (this.#state !== true) this.#log.info('the database answers again');
      this.#state = true;
    } catch (err) {
      if (this.#state === true) this.#log.error({ err }, 'the database does not answer');
      this.#state = 'the database does not answer';
    }
  }
}
