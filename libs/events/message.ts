/** What travels on the event bus: one event as bytes, with its CloudEvents attributes beside it. */

import type { JsonValue } from '@bufbuild/protobuf';
import { type EventType, encodeEvent, type Topic } from './topics.ts';

/**
 * An event on its way. The headers are CloudEvents 1.0 attributes in the binary mode of its Kafka
 * binding (`ce_specversion`, `ce_id`, `ce_type`, `ce_source`, `ce_time`, `content-type`), and the
 * W3C `traceparent` of the call that caused it, where there was one.
 */
export interface EventMessage {
  topic: string;
  /** Messages of one key are handled in the order they were published. */
  key: string;
  headers: Record<string, string>;
  /** The event as protobuf. */
  value: Uint8Array;
}

/** An event as it was written down, before it travels. */
export interface EventRecord {
  /** Stable over every attempt to publish; consumers tell repeats by it. */
  id: string;
  topic: Topic;
  key: string;
  type: EventType;
  /** The event's protobuf JSON. */
  payload: JsonValue;
  time: Date;
  traceparent?: string | null;
}

/** The message for an event, sent by `source`. Throws when the payload is not an event of that type. */
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

/** A copy that shares nothing with the original, as if it had crossed a network (a Buffer's `slice` would). */
export function copyMessage({ topic, key, headers, value }: EventMessage): EventMessage {
  return { topic, key, headers: { ...headers }, value: new Uint8Array(value) };
}
