/**
 * One round of the relay: reads unpublished events, publishes them on the bus, and marks them as
 * published. It works on the shards whose lease this process holds.
 */
import {
  type EventBus,
  PartlyPublishedError,
  type UnwritablePartition,
} from '@creditlane/events/bus';
import type { EventMessage } from '@creditlane/events/message';
import type { Database } from '@creditlane/postgres/database';
import { isSerializationFailure } from '@creditlane/postgres/error-classes';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, runQuery } from '@creditlane/postgres/statement';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { endSpansAfter } from '@creditlane/runtime/telemetry/tracing';
import { encode, type OutboxRow } from './outgoing-events.ts';
import { PartitionRetries } from './partitions/partition-retries.ts';
import type { Lease, ShardLeases } from './shard-leases.ts';
import { UnmarkedEvents } from './unmarked-events.ts';

/** How many events of one shard a round publishes at most. */
const MAX_SHARD_BATCH = 500;
/** How long `close` waits for a publish under way. Its events are published again otherwise. */
const CLOSE_GRACE_MS = 5_000;

/**
 * The oldest unpublished rows of the shards ($1) without those of the keys ($2) and those with the ids ($3), in the order
 * of their ids. The condition is `published_at IS NULL` and never "ids after the last": a transaction may
 * commit after another one with higher ids.
 */
const selectUnpublished = defineStatement<OutboxRow>(
  'outbox_read',
  `SELECT waiting.* FROM unnest($1::smallint[]) AS held (shard)
   CROSS JOIN LATERAL (
     SELECT id, shard, topic, key, event_id, type, payload, traceparent, created_at FROM outbox
     WHERE shard = held.shard AND published_at IS NULL AND key <> ALL ($2::text[])
       AND id <> ALL ($3::bigint[])
     ORDER BY id LIMIT ${MAX_SHARD_BATCH}
   ) AS waiting
   ORDER BY waiting.id`,
);

/** The oldest unpublished rows of the shards ($1) with the keys ($2), without the ids ($3), in the order of their ids. */
const selectUnpublishedOfKeys = defineStatement<OutboxRow>(
  'outbox_read_keys',
  `SELECT id, shard, topic, key, event_id, type, payload, traceparent, created_at FROM outbox
   WHERE shard = ANY ($1::smallint[]) AND published_at IS NULL AND key = ANY ($2::text[])
     AND id <> ALL ($3::bigint[])
   ORDER BY id LIMIT ${MAX_SHARD_BATCH}`,
);

interface MarkedRow {
  id: number;
  delay_s: number;
}

/**
 * Marks exactly the rows with the ids $1 whose shard ($2) still has the fence ($3), and returns for
 * each the seconds since its writing. The commit does not wait for the disk: a mark that is lost in a
 * crash means an event published again, which every consumer must expect anyway.
 */
const markPublished = defineStatement<MarkedRow>(
  'outbox_mark',
  `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true) AS off)
   UPDATE outbox SET published_at = now()
   FROM quick, outbox_lease AS lease
   JOIN unnest($2::smallint[], $3::bigint[]) AS held (shard, fence)
     ON held.shard = lease.shard AND held.fence = lease.fence
   WHERE quick.off IS NOT NULL AND outbox.shard = lease.shard
     AND outbox.id = ANY ($1::bigint[]) AND outbox.published_at IS NULL
   RETURNING outbox.id, extract(epoch FROM clock_timestamp() - outbox.created_at)::float8 AS delay_s`,
);

export interface RelayOptions {
  /** The leases and the rounds use the reserved connections: they go on while requests use all others. */
  database: Pick<Database, 'pool' | 'reserved'>;
  bus: EventBus;
  /** The `ce_source` of the events: the service whose outbox this is. */
  source: string;
  log: Log;
  metrics: Metrics;
  /** How late an event is published, at most, whose wake-up was lost. */
  pollMs?: number;
}

/** The rows that were unpublished when the process held these leases. */
interface UnpublishedRows {
  leases: readonly Lease[];
  rows: readonly OutboxRow[];
}

export class RelayRounds {
  readonly #options: RelayOptions;
  readonly #shardLeases: ShardLeases;
  readonly #stop: AbortSignal;
  readonly #countPublished: ReturnType<typeof measurePublished>;
  /** Publishes the events of partitions that cannot be written. */
  readonly #retries: PartitionRetries;
  /**
   * Keys of events that this version cannot encode. All later events of such a key wait, because a key
   * keeps its order; other keys do not. A key is blocked until the process ends.
   */
  readonly #blockedKeys = new Set<string>();
  readonly #unmarked = new UnmarkedEvents();
  /** The marks under way: a read before their end would find their events unpublished. */
  readonly #marks = new Set<Promise<unknown>>();
  /** The last statement for events that are published apart: one at a time leaves connections to renewals and rounds. */
  #lastApart: Promise<unknown> = Promise.resolve();
  /** The rows that the last round has read and not published, because there were too many. */
  #left: UnpublishedRows | undefined;

  /** `wake` starts the next round. */
  constructor(
    options: RelayOptions,
    shardLeases: ShardLeases,
    { stop, wake }: { stop: AbortSignal; wake(): void },
  ) {
    this.#options = options;
    this.#shardLeases = shardLeases;
    this.#stop = stop;
    this.#countPublished = measurePublished(options.metrics, options.source);
    const publishKeys = (keys: readonly string[]) => this.#publishKeys(keys);
    this.#retries = new PartitionRetries({ ...options, publishKeys, onEnd: wake, stop });
  }

  /**
   * Does one round. Resolves to whether the next round has events to publish, and rejects when the bus or the
   * database fails; then no event of the round is lost. Its events are marked by a later round, or by `mark`.
   */
  async publishRound(): Promise<boolean> {
    const unpublished = await this.#readUnpublished();
    // The process may have been suspended since the reading: only leases that still hold count.
    const leases = this.#shardLeases.held().filter((lease) => includes(unpublished.leases, lease));
    const shards = new Set(leases.map(({ shard }) => shard));
    const rows = unpublished.rows.filter(({ shard }) => shards.has(shard));
    const { outgoing, left, taken } = encode(rows, this.#encoding(this.#retries));
    // Without the keys that were taken, the next round may read others.
    if (outgoing.size === 0) return taken > 0;

    const events = [...outgoing.values()];
    const messages = events.map(({ message }) => message);
    const publish = async () => {
      const unwritable = await this.#publish(messages);
      const failed = new Set(unwritable.flatMap((partition) => partition.failed));
      for (const [id, { message, span }] of outgoing) {
        if (!failed.has(message)) continue;
        span.end('PartlyPublishedError');
        outgoing.delete(id);
      }
      this.#retries.add(unwritable, messages);
    };
    await endSpansAfter(
      events.map(({ span }) => span),
      publish(),
    );
    this.#unmarked.add([...outgoing.keys()], leases, performance.now());
    // A row that is left may be published apart meanwhile.
    if (left.length > 0 && !this.#retries.isActive) this.#left = { leases, rows: left };
    return left.length > 0 || taken > 0 || rows.length >= MAX_SHARD_BATCH;
  }

  /** Milliseconds until a round is to mark what was published; infinite when nothing is to be marked. */
  markDueInMs(): number {
    return this.#unmarked.dueInMs(performance.now());
  }

  /** Makes the next round mark what was published. */
  hurryMarks(): void {
    this.#unmarked.hurry();
  }

  /** Marks what was published. Never rejects: what cannot be marked is published again. */
  async mark(): Promise<void> {
    void this.#asMark(this.#markPublished());
    await this.#marked();
  }

  /** Makes all reads wait for the mark. */
  #asMark<T>(mark: Promise<T>): Promise<T> {
    this.#marks.add(mark);
    const forget = () => this.#marks.delete(mark);
    mark.then(forget, forget);
    return mark;
  }

  /** Resolves when no mark is under way, also one that has begun meanwhile. */
  async #marked(): Promise<void> {
    while (this.#marks.size > 0) await Promise.allSettled(this.#marks);
  }

  async #markPublished(): Promise<void> {
    const { leases } = this.#unmarked;
    const published = this.#unmarked.clear();
    if (published.size === 0) return;
    const { database, log } = this.#options;
    try {
      const query = markQuery([...published.keys()], leases);
      const marked = await repeatMark(() => runQuery(database.reserved, query));
      this.#noteMarks(marked, published);
    } catch (err) {
      log.warn({ err }, 'published events were not marked; they are published again');
    }
  }

  /** Resolves soon after `stop`, when no event is being published apart from the rounds. */
  close(): Promise<void> {
    return this.#retries.close();
  }

  /**
   * Publishes the oldest events of keys whose partition could not be written; resolves to whether there may be more.
   * Rejects, too, while it is unknown which shards this relay holds.
   */
  async #publishKeys(keys: readonly string[]): Promise<boolean> {
    const { reserved: pool } = this.#options.database;
    const open = keys.filter((key) => !this.#blockedKeys.has(key));
    const read = await this.#apart(() => this.#readKeys(open));
    // The process may have been suspended since the reading: only leases that still hold count.
    const leases = this.#shardLeases.held().filter((lease) => includes(read.leases, lease));
    const shards = new Set(leases.map(({ shard }) => shard));
    const rows = read.rows.filter(({ shard }) => shards.has(shard));
    const { outgoing, left } = encode(rows, this.#encoding());
    // Other rows may be read without the keys that were blocked, or under the next leases.
    if (outgoing.size === 0) return read.rows.length > 0;
    const events = [...outgoing.values()];
    const publishAndMark = async () => {
      const [unwritable] = await this.#publish(events.map(({ message }) => message));
      if (unwritable) throw unwritable.cause;
      const query = markQuery([...outgoing.keys()], leases);
      return this.#apart(() => repeatMark(() => runQuery(pool, query)));
    };
    const spans = events.map(({ span }) => span);
    const marked = await endSpansAfter(spans, publishAndMark());
    const nowMs = performance.now();
    this.#noteMarks(marked, new Map([...outgoing.keys()].map((id) => [id, nowMs])));
    return left.length > 0 || read.rows.length > rows.length || rows.length === MAX_SHARD_BATCH;
  }

  async #readKeys(keys: readonly string[]): Promise<UnpublishedRows> {
    await this.#marked();
    if (!this.#shardLeases.areKnown()) throw new Error('the leases of the outbox are not renewed');
    const leases = this.#shardLeases.held();
    const shards = leases.map(({ shard }) => shard);
    const query = selectUnpublishedOfKeys.query([shards, keys, this.#unmarked.ids]);
    return { leases, rows: await runQuery(this.#options.database.reserved, query) };
  }

  /** Runs a statement after all earlier ones for events that are published apart. */
  #apart<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lastApart.then(run);
    const end = () => undefined;
    this.#lastApart = result.then(end, end);
    return result;
  }

  #encoding(retries?: PartitionRetries) {
    const { source, log } = this.#options;
    return { source, log, blockedKeys: this.#blockedKeys, ...(retries && { retries }) };
  }

  /**
   * Reads what is to be published, and marks in the same round trip what was published before when that is due. When the
   * mark fails, the events are forgotten here, so that the next round reads and publishes them again.
   */
  async #readUnpublished(): Promise<UnpublishedRows> {
    await this.#marked();
    const { reserved: pool } = this.#options.database;
    const leases = this.#shardLeases.held();
    const left = this.#left;
    this.#left = undefined;
    const isMarkDue = this.#unmarked.isDue(leases, performance.now());
    if (left !== undefined || leases.length === 0) {
      if (isMarkDue) await this.mark();
      return left ?? { leases, rows: [] };
    }
    const shards = leases.map(({ shard }) => shard);
    const apart = [...this.#blockedKeys, ...this.#retries.keys()];
    if (!isMarkDue) {
      const query = selectUnpublished.query([shards, apart, this.#unmarked.ids]);
      return { leases, rows: await runQuery(pool, query) };
    }
    const { leases: publishedUnder } = this.#unmarked;
    const published = this.#unmarked.clear();
    const mark = markQuery([...published.keys()], publishedUnder);
    const read = selectUnpublished.query([shards, apart, []]);
    const markAndRead = repeatMark(() => runPipeline(pool, [mark, read]));
    const [marked, rows] = await this.#asMark(markAndRead);
    this.#noteMarks(marked, published);
    return { leases, rows };
  }

  /** Returns the partitions whose messages were not published. */
  async #publish(messages: EventMessage[]): Promise<readonly UnwritablePartition[]> {
    // What was published before is marked in time, although this may take long.
    const markInMs = this.markDueInMs();
    const marking = markInMs < Infinity ? setTimeout(() => void this.mark(), markInMs) : undefined;
    try {
      await withTimeLimit(this.#options.bus.publish(messages), {
        limitMs: CLOSE_GRACE_MS,
        startsOn: this.#stop,
        makeError: () => new Error('the relay closed before the bus had published the events'),
      });
      return [];
    } catch (error) {
      if (error instanceof PartlyPublishedError) return error.partitions;
      throw error;
    } finally {
      clearTimeout(marking);
    }
  }

  /** Counts the marked events; a published one that is not marked is published again by the relay that has its shard. */
  #noteMarks(marked: readonly MarkedRow[], published: ReadonlyMap<number, number>): void {
    this.#countPublished(marked, published);
    if (marked.length === published.size) return;
    this.#shardLeases.invalidate();
    const problem =
      'another relay took over shards during a publish and publishes their events again';
    this.#options.log.warn(problem);
  }
}

function markQuery(ids: readonly number[], leases: readonly Lease[]) {
  const shards = leases.map(({ shard }) => shard);
  return markPublished.query([ids, shards, leases.map(({ fence }) => fence)]);
}

/**
 * Runs a mark, and once more when a row that it marks was moved out of the queue meanwhile, by the mark of the relay that had
 * the shard before: PostgreSQL then refuses the whole statement, and its next snapshot has no such row in the queue.
 */
async function repeatMark<T>(mark: () => Promise<T>): Promise<T> {
  try {
    return await mark();
  } catch (error) {
    if (!isSerializationFailure(error)) throw error;
    return mark();
  }
}

function measurePublished(metrics: Metrics, source: string) {
  const total = metrics.counter('outbox_published_total', 'Events published.', ['source']);
  const delay = metrics
    .histogram(
      'outbox_publish_delay_seconds',
      'From the transaction that wrote an event until it was published.',
      ['source'],
    )
    .labels({ source });
  return (marked: readonly MarkedRow[], published: ReadonlyMap<number, number>) => {
    total.inc({ source }, marked.length);
    const nowMs = performance.now();
    for (const { id, delay_s } of marked) {
      delay.observe(delay_s - (nowMs - (published.get(id) ?? nowMs)) / 1_000);
    }
  };
}

function includes(leases: readonly Lease[], { shard, fence }: Lease): boolean {
  return leases.some((lease) => lease.shard === shard && lease.fence === fence);
}
