/** Leases on the shards of the outbox: one relay at a time holds a shard, until its lease expires. */
import { randomUUID } from 'node:crypto';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement } from '@creditlane/postgres/statement';
import { pause } from '@creditlane/runtime/concurrency/pause';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type pg from 'pg';
import { OUTBOX_SHARDS } from '../outbox.ts';
import type { RelayNotifications } from './relay-notifications.ts';

/** The shards of a dead relay are taken over within a lease and a half; the promise is five seconds. */
const LEASE_MS = 3_000;
/** Of the lease: the time between two renewals. */
const RENEWAL = 1 / 2;
/** Between two renewals while this relay holds all shards and hands none over: no lease of another relay can expire. */
const RENEWAL_OF_ALL = 2 / 3;
/** How long a relay that cannot publish leaves all shards to the others. */
const STEP_BACK_MS = 30_000;
/** After a renewal that failed: two more attempts before the lease expires, when each fails at once. */
const RETRY_MS = 400;

/** This relay holds the shard while its row has this fence: a relay that takes it over raises the fence. */
export interface Lease {
  shard: number;
  fence: number;
}

export function includesLease(leases: readonly Lease[], { shard, fence }: Lease): boolean {
  return leases.some((lease) => lease.shard === shard && lease.fence === fence);
}

interface LeaseRow {
  shard: number;
  /** Changes with every renewal. */
  version: string;
  /** Null for a shard that this relay does not hold. */
  fence: number | null;
}

/**
 * Renews the leases of the holder $1, takes at most $2 others with a higher fence, and returns all shards.
 * It takes those that have no holder and those whose rows still have the versions ($3, $4). `expires_at` is
 * for relays of earlier versions: here no lease depends on the clock of PostgreSQL or of the process.
 * SKIP LOCKED: a locked row is being taken or released by another relay.
 */
const takeLeases = defineStatement<LeaseRow>(
  'outbox_lease_take',
  `WITH own AS (
     SELECT shard FROM outbox_lease WHERE holder = $1 FOR UPDATE SKIP LOCKED
   ), free AS (
     SELECT shard FROM outbox_lease
     WHERE holder IS NULL OR EXISTS (
       SELECT FROM unnest($3::smallint[], $4::text[]) AS expired (shard, version)
       WHERE expired.shard = outbox_lease.shard AND expired.version = outbox_lease.xmin::text)
     ORDER BY shard LIMIT $2 FOR UPDATE SKIP LOCKED
   ), taken AS (
     UPDATE outbox_lease AS lease SET
       fence = lease.fence + CASE WHEN lease.holder = $1 THEN 0 ELSE 1 END,
       holder = $1,
       expires_at = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
     FROM (SELECT shard FROM own UNION SELECT shard FROM free) AS mine
     WHERE lease.shard = mine.shard
     RETURNING lease.shard, lease.fence
   )
   SELECT lease.shard, lease.xmin::text AS version, taken.fence
   FROM outbox_lease AS lease LEFT JOIN taken ON taken.shard = lease.shard ORDER BY lease.shard`,
);

/** Releases the holder's shards ($1) that are in the list ($2), or all. */
const releaseLeases = defineStatement(
  'outbox_lease_release',
  `UPDATE outbox_lease SET holder = NULL, expires_at = '-infinity'
   WHERE holder = $1 AND shard = ANY (coalesce($2::smallint[], ARRAY[shard]))`,
);

/** The other relays of the outbox. */
type OtherRelays = Pick<RelayNotifications, 'count' | 'announce' | 'withdraw'>;

export class ShardLeases {
  readonly #holder = randomUUID();
  readonly #pool: pg.Pool;
  readonly #log: Log;
  readonly #others: OtherRelays;
  readonly #onRoundDue: () => void;
  readonly #leaseMs: number;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #leases: Lease[] = [];
  /** Of the outbox; `raiseShards` raises it while relays run. */
  #shards = OUTBOX_SHARDS;
  #validUntilMs = 0;
  #invalidatedMs = 0;
  /** Until then this relay holds no shard, so that others publish what it cannot. */
  #steppedBackUntilMs = 0;
  /** Shards that no round uses any more; the next renewal releases them. */
  #handedOver: number[] = [];
  /** Of the shards of other relays: the version of the row, and since when this relay has seen no other. */
  #seen = new Map<number, { version: string; sinceMs: number }>();

  /**
   * Starts to take and renew free shards. `onRoundDue` is called after a renewal by which the relay holds more shards than
   * before, and after each one with a surplus, which the next round is to hand over. The relays of an outbox have one `leaseMs`.
   */
  constructor(
    pool: pg.Pool,
    log: Log,
    others: OtherRelays,
    onRoundDue: () => void,
    leaseMs = LEASE_MS,
  ) {
    this.#pool = pool;
    this.#log = log;
    this.#others = others;
    this.#onRoundDue = onRoundDue;
    this.#leaseMs = leaseMs;
    this.#running = this.#run();
  }

  /**
   * The leases that have not expired by this process's monotonic clock. So a process that was suspended
   * for longer than its lease publishes nothing.
   */
  held(): Lease[] {
    return this.areKnown() ? [...this.#leases] : [];
  }

  /** Whether the last renewal still says which shards this relay holds. */
  areKnown(): boolean {
    return performance.now() < this.#validUntilMs;
  }

  /** The number of the outbox's shards. */
  get shards(): number {
    return this.#shards;
  }

  /** Whether this relay holds every shard of the outbox. */
  holdsAll(): boolean {
    return this.held().length === this.#shards;
  }

  /** Makes `held` empty until the next renewal has read which leases this relay still has. */
  invalidate(): void {
    this.#validUntilMs = 0;
    this.#invalidatedMs = performance.now();
  }

  /** Whether this relay holds more shards than its share. */
  hasSurplus(): boolean {
    return this.held().length > this.#share();
  }

  /**
   * Gives up the shards above this relay's share, for other relays to take. Called between two rounds: a shard
   * of a round under way would be published twice.
   */
  handOverSurplus(): void {
    if (!this.areKnown()) return;
    const surplus = this.#leases.splice(this.#share());
    this.#handedOver.push(...surplus.map(({ shard }) => shard));
  }

  /**
   * Leaves all shards to the other relays for STEP_BACK_MS, or less when none of them renews a shard: then they cannot publish
   * either. Does nothing and returns false when there is no other relay that would take them. Called between two rounds.
   */
  stepBack(): boolean {
    if (this.held().length === 0 || this.#others.count(this.#leaseMs) === 0) return false;
    this.#steppedBackUntilMs = performance.now() + STEP_BACK_MS;
    this.handOverSurplus();
    this.#others.withdraw();
    return true;
  }

  /** Releases the shards, so that another relay takes them before the leases expire. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#leases = [];
    try {
      await releaseLeases.run(this.#pool, [this.#holder, null]);
    } catch (err) {
      this.#log.warn({ err }, 'outbox leases were not released; they expire by themselves');
    }
  }

  #isSteppedBack(): boolean {
    return performance.now() < this.#steppedBackUntilMs;
  }

  #share(): number {
    if (this.#isSteppedBack()) return 0;
    return Math.ceil(this.#shards / (1 + this.#others.count(this.#leaseMs)));
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const startedMs = performance.now();
      const isRenewed = await this.#renew();
      const renewal = this.holdsAll() && !this.hasSurplus() ? RENEWAL_OF_ALL : RENEWAL;
      const nextMs = isRenewed ? renewal * this.#leaseMs : RETRY_MS;
      // A shard whose lease had expired before this renewal, and was not taken by it, is above this relay's share. So only
      // leases that expire later bring the next renewal forward.
      const expiryMs = [...this.#seen.values()]
        .map(({ sinceMs }) => sinceMs + this.#leaseMs)
        .filter((atMs) => atMs > startedMs);
      const expiresInMs = Math.max(0, Math.min(...expiryMs) - performance.now());
      await pause(Math.min(nextMs, expiresInMs), this.#stop.signal);
    }
  }

  /** False when the database could not be asked. */
  async #renew(): Promise<boolean> {
    // The lease counts from before the query, not from its answer, which may have been delayed.
    const requestedMs = performance.now();
    const expired = [...this.#seen].filter(([, it]) => requestedMs - it.sinceMs >= this.#leaseMs);
    try {
      const [, rows] = await runPipeline(this.#pool, [
        this.#handedOver.length > 0
          ? releaseLeases.query([this.#holder, this.#handedOver])
          : undefined,
        takeLeases.query([
          this.#holder,
          Math.max(0, this.#share() - this.held().length),
          expired.map(([shard]) => shard),
          expired.map(([, { version }]) => version),
        ]),
      ]);
      // The leases may have been invalidated during the query.
      const before = this.held().length;
      // A shard handed over meanwhile was renewed, so that it is in use again until the next `handOverSurplus`.
      this.#handedOver = [];
      this.#shards = rows.length;
      this.#leases = rows.flatMap(({ shard, fence }) => (fence === null ? [] : [{ shard, fence }]));
      // A renewal that was under way when the leases were invalidated may have read them before.
      this.#validUntilMs = requestedMs < this.#invalidatedMs ? 0 : requestedMs + this.#leaseMs;
      // Renewed meanwhile, a shard has another version.
      const versions = new Map(rows.map(({ shard, version }) => [shard, version]));
      const areDead = expired.some(([shard, { version }]) => versions.get(shard) === version);
      if (areDead) this.#steppedBackUntilMs = 0;
      this.#see(rows.filter(({ fence }) => fence === null));
      if (this.#leases.length > before || this.hasSurplus()) this.#onRoundDue();
      const isWanting = !this.holdsAll() && !this.#isSteppedBack();
      if (isWanting && !this.#stop.signal.aborted) this.#others.announce();
      return true;
    } catch (err) {
      this.#log.warn({ err }, 'outbox leases were not renewed');
      // What another relay did meanwhile is unknown, so that its leases count from the next answer.
      this.#seen.clear();
      return false;
    }
  }

  /** A lease expires when its row has not changed for its time by this process's monotonic clock. */
  #see(others: readonly LeaseRow[]): void {
    const nowMs = performance.now();
    this.#seen = new Map(
      others.map(({ shard, version }) => {
        const seen = this.#seen.get(shard);
        return [shard, seen?.version === version ? seen : { version, sinceMs: nowMs }];
      }),
    );
  }
}
