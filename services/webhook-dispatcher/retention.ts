/** Deletes deliveries that were settled long ago, with their attempts and bodies, a slice at a time. */
import { statement } from '@creditlane/postgres/statement';
import type { Log } from '@creditlane/runtime/log';
import { Wake } from '@creditlane/runtime/wake';
import type { Pool } from 'pg';

/** The last attempt comes within four days, so this is longer than the 30 days a dead one is kept. */
const KEPT_DAYS = 35;
const SLICE = 1_000;
const EVERY_MS = 60 * 60 * 1_000;

const deleteDeliveries = statement<{ id: string }>(
  'retention_deliveries',
  `WITH old AS (
     SELECT id FROM deliveries
     WHERE created_at < now() - $1 * interval '1 day' AND state IN ('delivered', 'dead')
     LIMIT $2
   ), logged AS (
     DELETE FROM attempts USING old WHERE attempts.delivery_id = old.id
   )
   DELETE FROM deliveries USING old WHERE deliveries.id = old.id RETURNING deliveries.id`,
);

// No delivery is as old as this any more, so no body is needed.
const deleteMessages = statement<{ event_id: string }>(
  'retention_messages',
  `DELETE FROM messages WHERE event_id IN (
     SELECT event_id FROM messages AS m
     WHERE recorded_at < now() - $1 * interval '1 day'
       AND NOT EXISTS (SELECT FROM deliveries AS d WHERE d.event_id = m.event_id)
     LIMIT $2)
   RETURNING event_id`,
);

export class Retention {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor({ pool, log }: { pool: Pool; log: Log }) {
    this.#pool = pool;
    this.#log = log;
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const pause = new Wake();
    while (!this.#stop.signal.aborted) {
      await pause.wait(EVERY_MS, this.#stop.signal);
      try {
        for (const sweep of [deleteDeliveries, deleteMessages]) {
          let deleted = SLICE;
          while (deleted === SLICE && !this.#stop.signal.aborted) {
            deleted = (await sweep.run(this.#pool, [KEPT_DAYS, SLICE])).length;
          }
        }
      } catch (err) {
        this.#log.warn({ err }, 'old deliveries could not be deleted');
      }
    }
  }
}
