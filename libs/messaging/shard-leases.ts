/** Who publishes which shard of the outbox: one holder each, by a lease that runs out with its holder. */
import { randomUUID } from 'node:crypto';
import { defineStatement } from '@creditlane/postgres/statement';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { OUTBOX_SHARDS } from './outbox.ts';

/** A dead holder's shards are taken over after LEASE_MS + RENEW_MS at most, within the five seconds promised. */
const LEASE_MS = 3_000;
const RENEW_MS = 750;

/** A shard that is ours while the fence stands; whoever takes it over raises the fence. */
export interface Lease {
  shard: number;
  fence: number;
}

// Never waits: a row that somebody else has locked is being taken, or released, by them.
const takeLeases = defineStatement<Lease>(
  'outbox_lease_take',
  `WITH free AS (
     SELECT shard FROM outbox_lease
     WHERE holder = $1 OR expires_at < clock_timestamp()
     ORDER BY shard FOR UPDATE SKIP LOCKED
   )
   UPDATE outbox_lease AS lease SET
     fence = lease.fence + CASE WHEN lease.holder = $1 THEN 0 ELSE 1 END,
     holder = $1,
     expires_at = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
   FROM free WHERE lease.shard = free.shard
   RETURNING lease.shard, lease.fence`,
);

const giveUpLeases = defineStatement(
  'outbox_lease_give_up',
  `UPDATE outbox_lease SET holder = NULL, expires_at = '-infinity' WHERE holder = $1`,
);

export class ShardLeases {
  readonly #holder = randomUUID();
  readonly #pool: pg.Pool;
  readonly #log: Log;
  readonly #onGain: () => void;
  readonly #renewal: PeriodicTask;
  #leases: Lease[] = [];
  #validUntilMs = 0;

  /** Starts taking and renewing whatever is free; `onGain` is called when there is more than before. */
  constructor(pool: pg.Pool, log: Log, onGain: () => void) {
    this.#pool = pool;
    this.#log = log;
    this.#onGain = onGain;
    this.#renewal = startPeriodicTask(RENEW_MS, () => this.#renew());
  }

  /**
   * The leases that surely hold at this moment. Judged by this process's own monotonic clock, so a
   * process that slept through its lease knows better than to publish.
   */
  held(): Lease[] {
    return performance.now() < this.#validUntilMs ? this.#leases : [];
  }

  /** Whether no other relay publishes anything of this outbox. */
  holdsAll(): boolean {
    return this.held().length === OUTBOX_SHARDS;
  }

  /** Holds nothing until the next renewal has shown what is still ours. */
  invalidate(): void {
    this.#validUntilMs = 0;
  }

  /** Gives the shards up, so that a successor need not wait for the leases to run out. */
  async close(): Promise<void> {
    await this.#renewal.close();
    this.#leases = [];
    try {
      await giveUpLeases.run(this.#pool, [this.#holder]);
    } catch (err) {
      this.#log.warn({ err }, 'outbox leases not given up; they run out by themselves');
    }
  }

  async #renew(): Promise<void> {
    // The lease counts from before we asked, never from when the answer came.
    const askedMs = performance.now();
    try {
      const before = this.held().length;
      this.#leases = await takeLeases.run(this.#pool, [this.#holder]);
      this.#validUntilMs = askedMs + LEASE_MS;
      if (this.#leases.length > before) this.#onGain();
    } catch (err) {
      this.#log.warn({ err }, 'outbox leases not renewed');
    }
  }
}
