/** One round of publishing: read what waits in the shards held, hand it to the bus, mark it. */
import type { EventBus } from '@creditlane/events/bus';
import { type EventMessage, toMessage } from '@creditlane/events/message';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { runQuery } from '@creditlane/postgres/statement';
import { withTimeLimit } from '@creditlane/runtime/concurrency/time-limit';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { endSpansAfter, type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type pg from 'pg';
import {
  markPublished,
  type OutboxRow,
  outboxBacklog,
  readUnpublished,
  toEventRecord,
} from './outbox-rows.ts';
import type { Lease, ShardLeases } from './shard-leases.ts';

/** How long a batch under way may take when we are told to close; it is published again otherwise. */
const CLOSE_GRACE_MS = 5_000;

export interface PublisherOptions {
  pool: pg.Pool;
  bus: EventBus;
  /** The `ce_source` of the events: whose outbox this is. */
  source: string;
  log: Log;
  metrics: Metrics;
}

/** An event on its way to the bus. */
interface Outgoing {
  message: EventMessage;
  span: Span;
}

/** Publishes one round of the shards held, and resolves to whether more is known to wait. */
export type PublishRound = (leases: ShardLeases) => Promise<boolean>;

/** What waited when these shards were held. */
interface Waiting {
  held: readonly Lease[];
  rows: readonly OutboxRow[];
}

export function createPublisher(
  { pool, bus, source, log, metrics }: PublisherOptions,
  stop: AbortSignal,
): PublishRound {
  const published = metrics.counter('outbox_published_total', 'Events published.', ['source']);
  const delay = metrics
    .histogram(
      'outbox_publish_delay_seconds',
      'From the transaction that wrote an event to its being published and marked.',
      ['source'],
    )
    .labels({ source });
  measureBacklog(pool, source, metrics);
  /** Keys held up, until the process ends, by an event that this version cannot encode. */
  const stuck = new Set<string>();
  /** What was found when the last round was marked. */
  let found: Waiting | undefined;

  const looking = (held: readonly Lease[]) =>
    readUnpublished.query([held.map(({ shard }) => shard), [...stuck]]);

  const look = async (held: readonly Lease[]): Promise<Waiting> => {
    return { held, rows: held.length === 0 ? [] : await runQuery(pool, looking(held)) };
  };

  /** An event that cannot be encoded holds up its own key, for order's sake, and no other. */
  const encode = (rows: readonly OutboxRow[]): Map<number, Outgoing> => {
    const outgoing = new Map<number, Outgoing>();
    for (const row of rows) {
      if (stuck.has(row.key)) continue;
      try {
        outgoing.set(row.id, begin(row, source));
      } catch (err) {
        stuck.add(row.key);
        const { id: outboxId, type, traceparent } = row;
        const traceId = traceIdOf(traceparent);
        log.error({ err, outboxId, type, traceId }, 'an event cannot be published');
      }
    }
    return outgoing;
  };

  return async (leases) => {
    const waiting = found ?? (await look(leases.held()));
    found = undefined;
    // A process may be stopped at any point; one that slept past its lease has nothing to say.
    const held = leases.held().filter((lease) => includes(waiting.held, lease));
    const shards = new Set(held.map(({ shard }) => shard));
    const outgoing = encode(waiting.rows.filter(({ shard }) => shards.has(shard)));
    if (outgoing.size === 0) return false;
    const batch = [...outgoing.values()];
    const work = async () => {
      await withTimeLimit(bus.publish(batch.map(({ message }) => message)), {
        limitMs: CLOSE_GRACE_MS,
        startsOn: stop,
        makeError: () => new Error('the relay closed before the bus was done'),
      });
      // For the next round, which may be about more shards than this one or about fewer.
      const now = leases.held();
      const [marked, rows] = await runPipeline(pool, [
        marking([...outgoing.keys()], held),
        looking(now),
      ]);
      return { marked, next: { held: now, rows } };
    };
    const { marked, next } = await endSpansAfter(
      batch.map(({ span }) => span),
      work(),
    );
    published.inc({ source }, marked.length);
    for (const { delay_s } of marked) delay.observe(delay_s);
    if (marked.length < outgoing.size) {
      leases.invalidate();
      log.warn('shards were taken over while publishing; their new holder publishes again');
      return false;
    }
    if (next.rows.length === 0) return false;
    found = next;
    return true;
  };
}

function marking(ids: readonly number[], held: readonly Lease[]) {
  return markPublished.query([ids, held.map(({ shard }) => shard), held.map(({ fence }) => fence)]);
}

function includes(leases: readonly Lease[], { shard, fence }: Lease): boolean {
  return leases.some((lease) => lease.shard === shard && lease.fence === fence);
}

/** The event as a message, caused by its publishing, which its writing caused. Throws as `toMessage` does. */
function begin(row: OutboxRow, source: string): Outgoing {
  const message = toMessage(toEventRecord(row), source);
  const span = startSpan(`publish ${row.topic}`, {
    kind: 'producer',
    parent: row.traceparent,
    attributes: {
      'messaging.destination.name': row.topic,
      'messaging.message.id': row.event_id,
    },
  });
  if (span.traceparent !== undefined) message.headers.traceparent = span.traceparent;
  return { message, span };
}

function measureBacklog(pool: pg.Pool, source: string, metrics: Metrics): void {
  const oldest = metrics.gauge(
    'outbox_oldest_seconds',
    'How long the oldest unpublished event has been waiting.',
    ['source'],
  );
  metrics.gauge('outbox_depth', 'Events not yet published.', ['source'], async (depth) => {
    const [backlog] = await outboxBacklog.run(pool);
    depth.set({ source }, backlog?.depth ?? 0);
    oldest.set({ source }, backlog?.oldest_s ?? 0);
  });
}
