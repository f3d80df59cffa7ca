/** The rows of the outbox as the events that the bus gets. */
import type { JsonValue } from '@bufbuild/protobuf';
import { type EventMessage, MAX_BATCH_BYTES, sizeOf, toMessage } from '@creditlane/events/message';
import type { EventType, Topic } from '@creditlane/events/topics';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { traceIdOf } from '@creditlane/runtime/telemetry/traceparent';
import { type Span, startSpan } from '@creditlane/runtime/telemetry/tracing';
import type { UnwritablePartitions } from './unwritable-partitions.ts';

export interface OutboxRow {
  id: number;
  shard: number;
  topic: Topic;
  key: string;
  eventId: string;
  type: EventType;
  payload: JsonValue;
  traceparent: string | null;
  createdAt: Date;
}

/** An event as the bus gets it, and the span of its publishing. */
export interface OutgoingEvent {
  message: EventMessage;
  span: Span;
}

interface BatchOptions {
  source: string;
  blockedKeys: Set<string>;
  log: Log;
  /** The events of these partitions are diverted, to be published apart; left out for those events themselves. */
  unwritable?: UnwritablePartitions;
}

/**
 * Returns the rows' events by row id, up to MAX_BATCH_BYTES, the rows that remain for the next round, and how many
 * events were diverted as `unwritable`. A row that cannot be encoded blocks its key.
 */
export function prepareBatch(
  rows: readonly OutboxRow[],
  { source, blockedKeys, log, unwritable }: BatchOptions,
): {
  outgoing: Map<number, OutgoingEvent>;
  remaining: readonly OutboxRow[];
  divertedCount: number;
} {
  const outgoing = new Map<number, OutgoingEvent>();
  let bytes = 0;
  let divertedCount = 0;
  for (const [index, row] of rows.entries()) {
    if (bytes > MAX_BATCH_BYTES) return { outgoing, remaining: rows.slice(index), divertedCount };
    if (blockedKeys.has(row.key)) continue;
    try {
      const event = toOutgoingEvent(row, source);
      if (unwritable?.divertIfUnwritable(event.message)) {
        event.span.end('PartlyPublishedError');
        divertedCount += 1;
        continue;
      }
      outgoing.set(row.id, event);
      bytes += sizeOf(event.message);
    } catch (err) {
      blockedKeys.add(row.key);
      const { id: outboxId, eventId, type, traceparent } = row;
      const where = { outboxId, eventId, type, traceId: traceIdOf(traceparent) };
      log.error({ err, ...where }, 'an event cannot be encoded; its key is blocked');
    }
  }
  return { outgoing, remaining: [], divertedCount };
}

/** Throws `InvalidEventError` when the payload is not an event of its type. */
function toOutgoingEvent(row: OutboxRow, source: string): OutgoingEvent {
  const { eventId: id, topic, key, type, payload, createdAt: time, traceparent } = row;
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
