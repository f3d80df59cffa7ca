/** The messages of the event bus: one event as protobuf, with its CloudEvents attributes as headers. */
import type { JsonValue } from '@bufbuild/protobuf';
import { type EventType, encodeEvent, type Topic } from './topics.ts';

/**
 * An event on the bus. The headers are CloudEvents 1.0 attributes in the binary mode of its Kafka
 * binding (`ce_specversion`, `ce_id`, `ce_type`, `ce_source`, `ce_time`, `content-type`), and the
 * W3C `traceparent` of the call that caused the event, if the call had one.
 */
export interface EventMessage {
  topic: string;
  /** Messages of one key are handled in the order of their publishing. */
  key: string;
  headers: Record<string, string>;
  /** The event as protobuf. */
  value: Uint8Array;
}

/**
 * The size of a batch that is encoded, decoded or handled in one turn of the event loop: 512 KiB of the
 * events that are the most expensive to render as webhooks take about 15 ms, and 500 such events 120 ms.
 */
export const MAX_BATCH_BYTES = 512 * 1024;

/** What an event may take: a decision with the longest texts, of characters of four bytes, and as much again for later versions. */
export const MAX_EVENT_BYTES = 96 * 1024;

/** An upper bound for the size of a message without its key, value and headers. */
const OVERHEAD_BYTES = 100;

/** An event as the outbox stores it. */
export interface EventRecord {
  /** The same at every publish of the event; consumers recognise repeated messages by it. */
  id: string;
  topic: Topic;
  key: string;
  type: EventType;
  /** The event's protobuf JSON. */
  payload: JsonValue;
  time: Date;
  traceparent?: string | null;
}

/**
 * Returns the message for an event of `source`. Throws `InvalidEventError` when the payload is not
 * an event of its type.
 */
export function toMessage(event: EventRecord, source: string): EventMessage {
  return {
    topic: event.topic,
    key: event.key,
    headers: {
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: event.type,
      ce_source: source,
      ce_time: event.time.toISOString(),
      'content-type': 'application/protobuf',
      ...(event.traceparent && { traceparent: event.traceparent }),
    },
    value: encodeEvent(event.type, event.payload),
  };
}

/** Returns a copy that shares no memory with the original, as a network would. */
export function copyMessage({ topic, key, headers, value }: EventMessage): EventMessage {
  return { topic, key, headers: { ...headers }, value: new Uint8Array(value) };
}

/** An upper bound for the bytes that a message takes. */
export function sizeOf({ key, headers, value }: EventMessage): number {
  const text = Object.entries(headers).reduce(
    (sum, [name, header]) => sum + name.length + header.length,
    0,
  );
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  return OVERHEAD_BYTES + value.byteLength + 3 * (key.length + text);
}

/** An upper bound for the bytes that the messages take together. */
export function bytesOf(messages: readonly EventMessage[]): number {
  return messages.reduce((sum, message) => sum + sizeOf(message), 0);
}

/** Splits messages, in their order, into batches within the limits. A larger message is a batch of its own. */
export function* split(
  messages: readonly EventMessage[],
  { maxBytes, maxMessages = Number.POSITIVE_INFINITY }: { maxBytes: number; maxMessages?: number },
): Generator<EventMessage[]> {
  let batch: EventMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    if (batch.length > 0 && (bytes + size > maxBytes || batch.length === maxMessages)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
