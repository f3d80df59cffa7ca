/** The records that the event of a delivery is about, as the keys of its message name them. */
import type { WebhookEventType } from './webhook-event-type.ts';

/** By the name of the webhook event type. */
export type EventTypes = ReadonlyMap<string, Pick<WebhookEventType, 'orderedBy'>>;

/** What is stored of the event. */
export interface EventKeys {
  readonly event: string;
  readonly orderingKey: string;
  readonly numberingKey: string;
}

/** The ids of the records that the event is about; none for an event type of a newer version. */
export function recordIdsOf(
  { event, orderingKey, numberingKey }: EventKeys,
  eventTypes: EventTypes,
): { applicationId?: string; creditorId?: string; retailerId?: string } {
  switch (eventTypes.get(event)?.orderedBy) {
    case 'application':
      return { applicationId: orderingKey, creditorId: numberingKey };
    case 'retailer':
      return { retailerId: orderingKey };
    default:
      return {};
  }
}
