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
 * Returns the message for an event of `source`. Throws `UndecodableEventError` when the payload is not
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
