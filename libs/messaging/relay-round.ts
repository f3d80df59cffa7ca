/**
 * One round of the relay: reads unpublished events, publishes them on the bus, and marks them as
 * published. It works on the shards whose lease this process holds.
 */
import type { JsonValue } from '@bufbuild/protobuf';
import type { EventBus } from '@creditlane/events/bus';
import { type EventMessage, MAX_BATCH_BYTES, sizeOf, toMessage } from '@creditlane/events/message';
import type { EventType, Topic } from '@creditlane/events/topics';
import type { Database } from '@creditlane/postgres/database';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { defineStatement, runQuery } from '@creditlane/postgres/statement';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { endSpansAfter, type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type { Lease, ShardLeases } from './shard-leases.ts';

/** How many events of one shard a round publishes at most. */
const MAX_SHARD_BATCH = 500;
/** How long `close` waits for a publish under way. Its events are published again otherwise. */
const CLOSE_GRACE_MS = 5_000;

interface OutboxRow {
  id: number;
  shard: number;
  topic: Topic;
  key: string;
  event_id: string;
  type: EventType;
  payload: JsonValue;
  traceparent: string | null;
  created_at: Date;
}

/**
 * The oldest unpublished rows of the shards ($1) without those of the keys ($2), in the order of their
 * ids. The condition is `published_at IS NULL` and never "ids after the last": a transaction may
 * commit after another one with higher ids.
 */
const selectUnpublished = defineStatement<OutboxRow>(
  'outbox_read',
  `SELECT waiting.* FROM unnest($1::smallint[]) AS held (shard)
   CROSS JOIN LATERAL (
     SELECT id, shard, topic, key, event_id, type, payload, traceparent, created_at FROM outbox
     WHERE shard = held.shard AND published_at IS NULL AND key <> ALL ($2::text[])
     ORDER BY id LIMIT ${MAX_SHARD_BATCH}
   ) AS waiting
   ORDER BY waiting.id`,
);

/**
 * Marks exactly the rows with the ids $1 whose shard ($2) still has the fence ($3), and returns for
 * each the seconds since its writing. The commit does not wait for the disk: a mark that is lost in a
 * crash means an event published again, which every consumer must expect anyway.
 */
const markPublished = defineStatement<{ delay_s: number }>(
  'outbox_mark',
  `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true) AS off)
   UPDATE outbox SET published_at = now()
   FROM quick, outbox_lease AS lease
   JOIN unnest($2::smallint[], $3::bigint[]) AS held (shard, fence)
     ON held.shard = lease.shard AND held.fence = lease.fence
   WHERE quick.off IS NOT NULL AND outbox.shard = lease.shard
     AND outbox.id = ANY ($1::bigint[]) AND outbox.published_at IS NULL
   RETURNING extract(epoch FROM clock_timestamp() - outbox.created_at)::float8 AS delay_s`,
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

/** An event as the bus gets it, and the span of its publishing. */
interface OutgoingEvent {
  message: EventMessage;
  span: Span;
}

/** The rows that were unpublished when the process held these leases. */
interface UnpublishedRows {
  leases: readonly Lease[];
  rows: readonly OutboxRow[];
}

/**
 * Returns the function that does one round. It resolves to whether the next round has events to
 * publish, and rejects when the bus or the database fails; then no event of the round is lost.
 */
export function createRelayRound(
  { database, bus, source, log, metrics }: RelayOptions,
  shardLeases: ShardLeases,
  stop: AbortSignal,
): () => Promise<boolean> {
  const { reserved: pool } = database;
  const countPublished = measurePublished(metrics, source);
  /**
   * Keys of events that this version cannot encode. All later events of such a key wait, because a key
   * keeps its order; other keys do not. A key is blocked until the process ends.
   */
  const blockedKeys = new Set<string>();
  /** The rows that the last round read when it marked its own. */
  let readAhead: UnpublishedRows | undefined;

  const unpublishedQuery = (leases: readonly Lease[]) =>
    selectUnpublished.query([leases.map(({ shard }) => shard), [...blockedKeys]]);

  const readUnpublished = async (): Promise<UnpublishedRows> => {
    const leases = shardLeases.held();
    return {
      leases,
      rows: leases.length === 0 ? [] : await runQuery(pool, unpublishedQuery(leases)),
    };
  };

  const publish = (messages: EventMessage[]): Promise<void> =>
    withTimeLimit(bus.publish(messages), {
      limitMs: CLOSE_GRACE_MS,
      startsOn: stop,
      makeError: () => new Error('the relay closed before the bus had published the events'),
    });

  /**
   * Marks events and, when no rows are left of those that were read, reads those of the next round in the same
   * round trip. The leases may have changed since.
   */
  const markAndReadAhead = async (
    ids: readonly number[],
    leases: readonly Lease[],
    left: readonly OutboxRow[],
  ) => {
    const shards = leases.map(({ shard }) => shard);
    const fences = leases.map(({ fence }) => fence);
    const markQuery = markPublished.query([ids, shards, fences]);
    if (left.length > 0) {
      return { marked: await runQuery(pool, markQuery), next: { leases, rows: left } };
    }
    const nextLeases = shardLeases.held();
    const [marked, rows] = await runPipeline(pool, [markQuery, unpublishedQuery(nextLeases)]);
    return { marked, next: { leases: nextLeases, rows } };
  };

  return async () => {
    const unpublished = readAhead ?? (await readUnpublished());
    readAhead = undefined;
    // The process may have been suspended since the reading: only leases that still hold count.
    const leases = shardLeases.held().filter((lease) => includes(unpublished.leases, lease));
    const shards = new Set(leases.map(({ shard }) => shard));
    const { outgoing, left } = encode(
      unpublished.rows.filter(({ shard }) => shards.has(shard)),
      { source, blockedKeys, log },
    );
    if (outgoing.size === 0) return false;

    const events = [...outgoing.values()];
    const publishAndMark = async () => {
      await publish(events.map(({ message }) => message));
      return markAndReadAhead([...outgoing.keys()], leases, left);
    };
    const { marked, next } = await endSpansAfter(
      events.map(({ span }) => span),
      publishAndMark(),
    );
    countPublished(marked);

    if (marked.length < outgoing.size) {
      shardLeases.invalidate();
      log.warn('another relay took over shards during a publish and publishes their events again');
      return false;
    }
    if (next.rows.length === 0) return false;
    readAhead = next;
    return true;
  };
}

/**
 * Returns the rows' events by row id, up to MAX_BATCH_BYTES, and the rows that are left for the next round. A
 * row that cannot be encoded blocks its key.
 */
function encode(
  rows: readonly OutboxRow[],
  { source, blockedKeys, log }: { source: string; blockedKeys: Set<string>; log: Log },
): { outgoing: Map<number, OutgoingEvent>; left: readonly OutboxRow[] } {
  const outgoing = new Map<number, OutgoingEvent>();
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    if (bytes > MAX_BATCH_BYTES) return { outgoing, left: rows.slice(index) };
    if (blockedKeys.has(row.key)) continue;
    try {
      const event = toOutgoingEvent(row, source);
      outgoing.set(row.id, event);
      bytes += sizeOf(event.message);
    } catch (err) {
      blockedKeys.add(row.key);
      const { id: outboxId, type, traceparent } = row;
      const traceId = traceIdOf(traceparent);
      log.error({ err, outboxId, type, traceId }, 'an event cannot be encoded; its key is blocked');
    }
  }
  return { outgoing, left: [] };
}

function measurePublished(metrics: Metrics, source: string) {
  const total = metrics.counter('outbox_published_total', 'Events published.', ['source']);
  const delay = metrics
    .histogram(
      'outbox_publish_delay_seconds',
      'From the transaction that wrote an event until it was published and marked.',
      ['source'],
    )
    .labels({ source });
  return (marked: readonly { delay_s: number }[]) => {
    total.inc({ source }, marked.length);
    for (const { delay_s } of marked) delay.observe(delay_s);
  };
}

function includes(leases: readonly Lease[], { shard, fence }: Lease): boolean {
  return leases.some((lease) => lease.shard === shard && lease.fence === fence);
}

/** Throws `UndecodableEventError` when the payload is not an event of its type. */
function toOutgoingEvent(row: OutboxRow, source: string): OutgoingEvent {
  const { event_id: id, topic, key, type, payload, created_at: time, traceparent } = row;
  const message = toMessage({ id, topic, key, type, payload, time, traceparent }, source);
  const span = startSpan(`publish ${topic}`, {
    kind: 'producer',
    parent: traceparent,
    attributes: { 'messaging.destination.name': topic, 'messaging.message.id': id },
  });
  // The consumers' spans follow from the publishing, which follows from the writing of the event.
  if (span.traceparent !== undefined) message.headers.traceparent = span.traceparent;
  return { message, span };
}
