/** Finds out which webhook each event of a batch makes, and which destinations receive the webhook. */
import type { ReceivedEvent } from '@creditlane/messaging/transactional-inbox';
import {
  type DestinationRevision,
  UnreadableEventError,
  type WebhookEventType,
  type WebhookSource,
} from '../events/webhook-event-type.ts';

interface TypedEvent {
  readonly kind: 'readable';
  readonly source: WebhookSource;
  /** `undefined` when the event has no webhook. */
  readonly eventType: WebhookEventType | undefined;
}

/** An event that can have no webhook. */
interface UnreadableEvent {
  readonly kind: 'unreadable';
  readonly error: UnreadableEventError;
}

/** An event with its webhook's type and recipients, or with the reason why it can have no webhook. */
export type IdentifiedEvent =
  | (TypedEvent & { readonly recipients: readonly DestinationRevision[] })
  | UnreadableEvent;

export type IdentifiedBatch = ReadonlyMap<ReceivedEvent, IdentifiedEvent>;

/** The sources of webhooks, by the type of their bus event. */
export type SourcesByBusEvent = ReadonlyMap<string, WebhookSource>;

/**
 * Identifies the events of a batch. Rejects when a recipient lookup rejects: while the service that knows
 * the recipients is unavailable, an event must not be handled as if it had no recipients.
 */
export async function identifyEvents(
  sources: SourcesByBusEvent,
  events: readonly ReceivedEvent[],
): Promise<IdentifiedBatch> {
  const typed = new Map(events.map((received) => [received, findEventType(sources, received)]));
  const recipients = await findRecipients(typed);
  const identified = new Map<ReceivedEvent, IdentifiedEvent>();
  for (const [received, found] of typed) {
    identified.set(
      received,
      found.kind === 'unreadable'
        ? found
        : { ...found, recipients: recipients.get(received) ?? [] },
    );
  }
  return identified;
}

function findEventType(
  sources: SourcesByBusEvent,
  { type, event }: ReceivedEvent,
): TypedEvent | UnreadableEvent {
  const source = sources.get(type);
  if (source === undefined) {
    const error = new UnreadableEventError(`no webhook is made from a ${type}`);
    return { kind: 'unreadable', error };
  }
  try {
    return { kind: 'readable', source, eventType: source.eventTypeOf(event) };
  } catch (error) {
    if (error instanceof UnreadableEventError) return { kind: 'unreadable', error };
    throw error;
  }
}

/** Makes one call for each lookup, however many events of one type have the same query. */
async function findRecipients(
  batch: ReadonlyMap<ReceivedEvent, TypedEvent | UnreadableEvent>,
): Promise<ReadonlyMap<ReceivedEvent, readonly DestinationRevision[]>> {
  const asked = [...batch].flatMap(([received, found]) => {
    if (found.kind === 'unreadable' || found.eventType === undefined) return [];
    const { name: event, recipientLookup: lookup } = found.eventType;
    const query = found.eventType.recipientQuery(received.event);
    return [{ received, lookup, search: { query, event } }];
  });
  const traceparent = asked.find(({ received }) => received.traceparent)?.received.traceparent;

  const recipients = new Map<ReceivedEvent, readonly DestinationRevision[]>();
  const byLookup = Map.groupBy(asked, ({ lookup }) => lookup);
  const calls = [...byLookup].map(async ([lookup, ofLookup]) => {
    const bySearch = Map.groupBy(ofLookup, ({ search }) => JSON.stringify(search));
    const groups = [...bySearch.values()];
    const searches = groups.flatMap(([first]) => (first ? [first.search] : []));
    const answers = await lookup.find(searches, traceparent);
    for (const [n, same] of groups.entries()) {
      for (const { received } of same) recipients.set(received, answers[n] ?? []);
    }
  });
  await Promise.all(calls);
  return recipients;
}
