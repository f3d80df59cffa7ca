/** Leases on the shards of the outbox: one relay at a time holds a shard, until its lease expires. */
import { randomUUID } from 'node:crypto';
import { defineStatement } from '@creditlane/postgres/statement';
import {
  type PeriodicTask,
  startPeriodicTask,
} from '@creditlane/runtime/concurrency/periodic-task';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { OUTBOX_SHARDS } from './outbox.ts';

/** The shards of a dead relay are taken over within LEASE_MS + RENEW_MS; the promise is five seconds. */
const LEASE_MS = 3_000;
const RENEW_MS = 750;

/** This relay holds the shard while its row has this fence: a relay that takes it over raises the fence. */
export interface Lease {
  shard: number;
  fence: number;
}

// SKIP LOCKED: a locked row is being taken or released by another relay.
// $1 is the holder. A lease of its own is renewed, an expired one is taken over with a higher fence.
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

const releaseLeases = defineStatement(
  'outbox_lease_release',
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

  /** Starts to take and renew free shards; `onGain` is called when it holds more shards than before. */
  constructor(pool: pg.Pool, log: Log, onGain: () => void) {
    this.#pool = pool;
    this.#log = log;
    this.#onGain = onGain;
    this.#renewal = startPeriodicTask(RENEW_MS, () => this.#renew());
  }

  /**
   * The leases that have not expired by this process's monotonic clock. So a process that was suspended
   * for longer than its lease publishes nothing.
   */
  held(): Lease[] {
    return performance.now() < this.#validUntilMs ? this.#leases : [];
  }

  /** Whether this relay holds every shard of the outbox. */
  holdsAll(): boolean {
    return this.held().length === OUTBOX_SHARDS;
  }

  /** Makes `held` empty until the next renewal has read which leases this relay still has. */
  invalidate(): void {
    this.#validUntilMs = 0;
  }

  /** Releases the shards, so that another relay takes them before the leases expire. */
  async close(): Promise<void> {
    await this.#renewal.close();
    this.#leases = [];
    try {
      await releaseLeases.run(this.#pool, [this.#holder]);
    } catch (err) {
      this.#log.warn({ err }, 'outbox leases were not released; they expire by themselves');
    }
  }

  async #renew(): Promise<void> {
    // The lease counts from before the query, not from its answer, which may have been delayed.
    const requestedMs = performance.now();
    try {
      const before = this.held().length;
      this.#leases = await takeLeases.run(this.#pool, [this.#holder]);
      this.#validUntilMs = requestedMs + LEASE_MS;
      if (this.#leases.length > before) this.#onGain();
    } catch (err) {
      this.#log.warn({ err }, 'outbox leases were not renewed');
    }
  }
}
