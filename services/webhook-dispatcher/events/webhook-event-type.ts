/**
 * Webhook event types and their sources. A descriptor holds everything that is particular to one webhook
 * event type; a source lists the descriptors of the webhooks that are made from one type of bus event.
 */
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import type { EventType, Topic } from '@creditlane/events/topics';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { RenderBody } from './body-schema.ts';

/** A destination, at the revision that it had when it was found: it grows each time that the destination is set. */
export interface DestinationRevision {
  readonly destinationId: string;
  readonly revision: number;
}

/** The retailer and the creditor of an event: an integration with a grant on either receives it. */
export interface GrantQuery {
  readonly retailerId: string;
  readonly creditorId: string;
  /** Set for an event that only this integration may receive. */
  readonly integrationId?: string;
}

/** A query for the recipients of a webhook. */
export interface RecipientSearch<Query> {
  readonly query: Query;
  /**
   * The name of the webhook: destinations whose event filter lacks it are no recipients. Without a name, filters do not
   * apply, as to a replay.
   */
  readonly event?: string;
}

/** Finds recipients. Event types share a lookup, so that a batch of events costs one call for each. */
export interface RecipientLookup<Query = unknown> {
  /**
   * The recipients of each search, in the order of the searches. Rejects while a service that the lookup
   * calls is unavailable; the events are then handled again later.
   *
   * @param traceparent of one of the events: a call for several events belongs to one trace
   */
  find(
    searches: readonly RecipientSearch<Query>[],
    traceparent: string | undefined,
  ): Promise<readonly (readonly DestinationRevision[])[]>;
}

/** The descriptor of a webhook event type, made from bus events of one type. */
export interface WebhookEventType<Event = unknown, RecipientQuery = unknown> {
  /** As in the interface's list of events; stored with every message, so a name never changes. */
  readonly name: string;
  /** Appended to the destination's URL, such as "/application-booked". */
  readonly path: string;
  /** The header that holds the hex HMAC of the body. */
  readonly signatureHeader: string;
  readonly renderBody: RenderBody;
  /**
   * The record that the ordering key names. With 'application', the numbering key is a creditor.
   */
  readonly orderedBy: 'application' | 'retailer';
  /** Webhooks with the same ordering key (a UUID) are sent to each destination in order. */
  orderingKey(event: Event): string;
  /** `webhook-sequence` counts per ordering key, numbering key (a UUID) and destination. */
  numberingKey(event: Event): string;
  /** Finds the recipients. An event's recipients are settled when the event is consumed. */
  readonly recipientLookup: RecipientLookup<RecipientQuery>;
  recipientQuery(event: Event): RecipientQuery;
  readonly rendering: RenderedAtIntake<Event> | RenderedWhenSent<Event>;
}

/** The body is made when the event is consumed, and stored for all destinations and attempts. */
export interface RenderedAtIntake<Event> {
  readonly at: 'intake';
  payload(event: Event): object;
}

/** Only a reference is stored; the body is made anew for every attempt and never stored. */
export interface RenderedWhenSent<Event> {
  readonly at: 'sending';
  /** What `payload` needs to find the content: nothing that must not be stored in the clear. */
  reference(event: Event): string;
  /**
   * Must return the same payload for a reference and what the reader may read every time, since a receiver may get several attempts.
   * Rejects when the content cannot be read now: the delivery stays due, and no attempt is counted. Rejects
   * with a `ContentLostError` when the content can never be read again: the delivery becomes dead.
   */
  payload(reference: string, reader: ContentReader): Promise<object>;
}

/** For whom a content is read. */
export interface ContentReader {
  /** Whether social insurance numbers may be in it. */
  readonly readsSin: boolean;
  /** Of the attempt. */
  readonly traceparent: string | undefined;
}

/**
 * The position of a bus event in its series, which is named by the two keys. The high-water mark of a
 * series is the highest sequence that was handled; an event at or below the mark is dropped.
 */
export interface SeriesPosition {
  readonly orderingKey: string;
  /** Only events of one bus event type may be in a series. */
  readonly numberingKey: string;
  /** 1, 2, 3 … */
  readonly sequence: number;
}

/** A type of bus event and the webhook event types that are made from it. */
export interface WebhookSource<Event = unknown> {
  readonly topic: Topic;
  readonly busEventType: EventType;
  readonly eventTypes: readonly WebhookEventType<Event>[];
  /**
   * The type of the event's webhook; `undefined` when the event has none. Throws `UnreadableEventError`
   * for an event that no webhook can ever be made from: it becomes a dead letter. Such is one with an id that is no UUID in
   * lower case, because sequences and lanes are found by the ids' texts.
   */
  eventTypeOf(event: Event): WebhookEventType<Event> | undefined;
  /** When the change that the event reports was recorded. */
  recordedAt(event: Event): Date;
  /**
   * For events that can be published again under another id, as after the loss of all Kafka data. The
   * events of a source without this method are deduplicated by id only.
   */
  seriesPosition?(event: Event): SeriesPosition;
}

/** Why nothing is sent again to an integration that has no grant on what the payload names. */
export const GRANT_MISSING = 'grant_missing';

/** The content of a webhook that is rendered when sent is lost, for example deleted after its retention. */
export class ContentLostError extends LoggableError {
  /** A stable word, the reason of the dead delivery. */
  readonly reason: string;

  constructor(reason: string) {
    super(`the content of the webhook is lost: ${reason}`);
    this.reason = reason;
  }
}

/** An event that no webhook can be made from, such as one with an unknown decision value. */
export class UnreadableEventError extends LoggableError {}

/**
 * Throws an `UnreadableEventError` unless all ids are UUIDs in lower case.
 *
 * @param subject what the event is about, such as "decision"
 */
export function requireIds(subject: string, ...ids: readonly string[]): void {
  if (ids.every(isCanonicalUuid)) return;
  throw new UnreadableEventError(`an id of the ${subject} is no UUID in lower case`);
}

/** The time in the event; now for an event without one. */
export function occurredAt(timestamp: Timestamp | undefined): Date {
  return timestamp ? timestampDate(timestamp) : new Date();
}
