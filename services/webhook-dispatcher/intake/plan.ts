/** Decides which deliveries a batch of events makes, in which order, and with which numbers. */
import type { DestinationRevision, SeriesPosition } from '../events/webhook-event-type.ts';
import { laneKey } from '../queue/delivery.ts';
import { joinIds } from '../queue/joined-ids.ts';

/** What is stored of a webhook: its body, or the reference from which the body is rendered when sent. */
export type Content =
  | { readonly kind: 'body'; readonly body: string }
  | { readonly kind: 'reference'; readonly reference: string }
  /** The body does not match its schema: it is stored with the reason and never sent. */
  | { readonly kind: 'unsendable'; readonly body: string; readonly reason: string };

/** The webhook of an event, for all its recipients. */
export interface Webhook {
  /** The name of the event type. */
  readonly event: string;
  readonly orderingKey: string;
  readonly numberingKey: string;
  readonly content: Content;
  readonly recipients: readonly DestinationRevision[];
}

/** A bus event that this consumer has not handled before. */
export interface NewEvent {
  readonly eventId: string;
  readonly recordedAt: Date;
  /** The trace in which the event is handled, and to which its webhooks belong. */
  readonly traceparent: string | undefined;
  readonly seriesPosition: SeriesPosition | undefined;
  /** `undefined` when the event has no webhook. */
  readonly webhook: Webhook | undefined;
}

/** An event whose webhook has recipients: a message is stored for it. */
export type Message = NewEvent & { readonly webhook: Webhook };

/** What the database holds about the ordering keys, lanes and destinations of a batch. */
export interface StoredState {
  /** The highest sequence handled, by `seriesKey`. */
  readonly highWaterMarks: ReadonlyMap<string, number>;
  /** The last webhook-sequence assigned, by `counterKey`. */
  readonly lastSequences: ReadonlyMap<string, number>;
  /** The `laneKey`s of lanes in which a delivery keeps the later ones waiting. */
  readonly busyLanes: ReadonlySet<string>;
  /** The disabled revision, by destination id. Deliveries to a later revision are sent. */
  readonly disabledRevisions: ReadonlyMap<string, number>;
}

export const NOTHING_STORED: StoredState = {
  highWaterMarks: new Map(),
  lastSequences: new Map(),
  busyLanes: new Set(),
  disabledRevisions: new Map(),
};

export interface PlannedDelivery {
  readonly id: string;
  readonly message: Message;
  readonly destinationId: string;
  /**
   * A delivery to a disabled destination is numbered too: it can be replayed, and until then the gap shows
   * the receiver that it misses a webhook.
   */
  readonly sequence: number | null;
  readonly state: 'due' | 'waiting' | 'dead';
  /** Why the delivery is dead. */
  readonly reason: string | null;
}

/** What is to be written for a batch. */
export interface IntakePlan {
  readonly highWaterMarks: ReadonlyMap<string, number>;
  readonly lastSequences: ReadonlyMap<string, number>;
  /** The revisions of destinations that were disabled and have been set anew since, by id. */
  readonly enabledRevisions: ReadonlyMap<string, number>;
  readonly messages: readonly Message[];
  /** The events at or below their high-water mark. */
  readonly staleEventIds: readonly string[];
  /** In the order in which they stand in their lanes. */
  readonly deliveries: readonly PlannedDelivery[];
}

type Series = Pick<SeriesPosition, 'orderingKey' | 'numberingKey'>;

/** Identifies a series, which has one high-water mark. For decisions a series is a submission. */
export const seriesKey = ({ orderingKey, numberingKey }: Series): string =>
  joinIds(orderingKey, numberingKey);
/** Identifies a counter from which `webhook-sequence` is assigned. */
export const counterKey = ({ orderingKey, numberingKey }: Series, destinationId: string): string =>
  joinIds(orderingKey, numberingKey, destinationId);

/** Plans the deliveries of new events, given in order. An event at or below its high-water mark has none. */
export function planDeliveries(
  events: readonly NewEvent[],
  stored: StoredState,
  newId: () => string,
): IntakePlan {
  const highWaterMarks = new Map<string, number>();
  const lastSequences = new Map<string, number>();
  const enabledRevisions = new Map<string, number>();
  const busyLanes = new Set(stored.busyLanes);
  const messages: Message[] = [];
  const staleEventIds: string[] = [];
  const deliveries: PlannedDelivery[] = [];

  const isStale = (position: SeriesPosition): boolean => {
    const series = seriesKey(position);
    const handled = highWaterMarks.get(series) ?? stored.highWaterMarks.get(series) ?? 0;
    if (position.sequence <= handled) return true;
    highWaterMarks.set(series, position.sequence);
    return false;
  };

  const nextSequence = (webhook: Webhook, destinationId: string): number => {
    const counter = counterKey(webhook, destinationId);
    const last = lastSequences.get(counter) ?? stored.lastSequences.get(counter) ?? 0;
    lastSequences.set(counter, last + 1);
    return last + 1;
  };

  const addDelivery = (
    message: Message,
    { destinationId, revision }: DestinationRevision,
  ): void => {
    const { webhook } = message;
    const id = newId();
    const disabledRevision = stored.disabledRevisions.get(destinationId) ?? 0;
    if (disabledRevision > 0 && disabledRevision < revision) {
      enabledRevisions.set(destinationId, revision);
    }
    if (webhook.content.kind === 'unsendable') {
      const { reason } = webhook.content;
      deliveries.push({ id, message, destinationId, sequence: null, state: 'dead', reason });
      return;
    }
    const sequence = nextSequence(webhook, destinationId);
    if (disabledRevision >= revision) {
      const reason = 'destination_disabled';
      deliveries.push({ id, message, destinationId, sequence, state: 'dead', reason });
      return;
    }
    const lane = laneKey({ orderingKey: webhook.orderingKey, destinationId });
    const state = busyLanes.has(lane) ? 'waiting' : 'due';
    busyLanes.add(lane);
    deliveries.push({ id, message, destinationId, sequence, state, reason: null });
  };

  for (const event of events) {
    const { seriesPosition, webhook } = event;
    if (seriesPosition !== undefined && isStale(seriesPosition)) {
      staleEventIds.push(event.eventId);
      continue;
    }
    if (webhook === undefined || webhook.recipients.length === 0) continue;
    const message = { ...event, webhook };
    messages.push(message);
    for (const recipient of webhook.recipients) addDelivery(message, recipient);
  }
  return { highWaterMarks, lastSequences, enabledRevisions, messages, staleEventIds, deliveries };
}
