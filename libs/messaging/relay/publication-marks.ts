/** Marks the published rows of the outbox: together and a little later, or, for events published apart, at once. */
import { isSerializationFailure } from '@creditlane/postgres/error-classes';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, type Query, runQuery } from '@creditlane/postgres/statement';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type pg from 'pg';
import type { Lease, ShardLeases } from './shard-leases.ts';
import { UnmarkedEvents } from './unmarked-events.ts';

interface MarkedRow {
  id: number;
  delaySeconds: number;
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
   RETURNING outbox.id, extract(epoch FROM clock_timestamp() - outbox.created_at)::float8 AS "delaySeconds"`,
);

export interface PublicationMarksOptions {
  pool: pg.Pool;
  shardLeases: Pick<ShardLeases, 'invalidate'>;
  /** The `ce_source` of the events, a label of the metrics. */
  source: string;
  log: Log;
  metrics: Metrics;
}

export class PublicationMarks {
  /** What is published and marked later. */
  readonly unmarked = new UnmarkedEvents();
  readonly #options: PublicationMarksOptions;
  readonly #countPublished: ReturnType<typeof measurePublished>;
  /** The marks under way: a read before their end would find their events unpublished. */
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(options: PublicationMarksOptions) {
    this.#options = options;
    this.#countPublished = measurePublished(options.metrics, options.source);
  }

  /** Marks the unmarked events. Never rejects: what cannot be marked is published again. */
  async mark(): Promise<void> {
    void this.#asUnderWay(this.#markUnmarked());
    await this.marksEnded();
  }

  /**
   * Marks the unmarked events and runs `read`, in one round trip. When it fails, they are forgotten here, so that the next round
   * reads and publishes them again.
   */
  async markAndRead<Result>(read: Query<Result>): Promise<Result> {
    const { query, published } = this.#takeUnmarked();
    const { pool } = this.#options;
    const answers = repeatRefused(() => runPipeline(pool, [query, read]));
    const [marked, result] = await this.#asUnderWay(answers);
    this.#noteMarked(marked, published);
    return result;
  }

  /** Marks rows that were published just now under these leases, without the others. */
  async markNow(ids: readonly number[], leases: readonly Lease[]): Promise<void> {
    const query = markQuery(ids, leases);
    const marked = await repeatRefused(() => runQuery(this.#options.pool, query));
    const nowMs = performance.now();
    this.#noteMarked(marked, new Map(ids.map((id) => [id, nowMs])));
  }

  /** Resolves when no mark is under way, also one that has begun meanwhile. */
  async marksEnded(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #markUnmarked(): Promise<void> {
    const { query, published } = this.#takeUnmarked();
    if (published.size === 0) return;
    const { pool, log } = this.#options;
    try {
      const marked = await repeatRefused(() => runQuery(pool, query));
      this.#noteMarked(marked, published);
    } catch (err) {
      log.warn({ err }, 'published events were not marked; they are published again');
    }
  }

  #takeUnmarked() {
    const { leases } = this.unmarked;
    const published = this.unmarked.clear();
    return { query: markQuery([...published.keys()], leases), published };
  }

  /** Makes `marksEnded` wait for the mark. */
  #asUnderWay<T>(mark: Promise<T>): Promise<T> {
    this.#underWay.add(mark);
    const forget = () => this.#underWay.delete(mark);
    mark.then(forget, forget);
    return mark;
  }

  /**
   * Counts the marked events. When one was not marked, its shard has another holder: invalidates the leases, and the new holder
   * publishes the event again.
   */
  #noteMarked(marked: readonly MarkedRow[], published: ReadonlyMap<number, number>): void {
    this.#countPublished(marked, published);
    if (marked.length === published.size) return;
    const { shardLeases, log } = this.#options;
    shardLeases.invalidate();
    log.warn('events were published under leases that had ended; they are published again');
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
async function repeatRefused<T>(mark: () => Promise<T>): Promise<T> {
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
    for (const { id, delaySeconds } of marked) {
      delay.observe(delaySeconds - (nowMs - (published.get(id) ?? nowMs)) / 1_000);
    }
  };
}
