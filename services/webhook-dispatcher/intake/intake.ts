/**
 * Turns bus events into deliveries. A batch of events is one transaction; the deliveries that it leases
 * for this process are sent after its commit.
 */
import type { EventMessage } from '@creditlane/events/message';
import { createInboxHandler, type ReceivedEvent } from '@creditlane/messaging/transactional-inbox';
import type { Database } from '@creditlane/postgres/database';
import type { PlannedWrites } from '@creditlane/postgres/transaction';
import { newId } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { SERVICE } from '../destinations/destinations.ts';
import type { Recipient, WebhookEventType, WebhookSource } from '../events/webhook-event-type.ts';
import type { LeasedDelivery } from '../queue/delivery.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import { enableDestinationsQuery } from '../store/destinations.ts';
import { expectNoDeliveriesQuery } from '../store/intake/expected-deliveries.ts';
import {
  findStoredStateQuery,
  insertPlanQuery,
  lockOrderingKeysQuery,
  type SeriesAndLanes,
} from '../store/intake/intake.ts';
import { type IdentifiedBatch, type IdentifiedEvent, identifyEvents } from './identify.ts';
import {
  type Content,
  type NewEvent,
  type PlannedDelivery,
  planDeliveries,
  type StoredState,
} from './plan.ts';

export interface IntakeDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sources: readonly WebhookSource[];
  readonly queue: DeliveryQueue;
  readonly leaseMs: number;
}

/**
 * The handler to subscribe with. It rejects, so that the batch comes again, while the database or a
 * service that recipients are looked up in is unavailable.
 */
export function createIntake(deps: IntakeDeps): (batch: EventMessage[]) => Promise<void> {
  const { pool, log, metrics, queue } = deps;
  const sources = new Map(deps.sources.map((source) => [source.busEventType, source]));
  return createInboxHandler({
    consumer: SERVICE,
    pool,
    log,
    metrics,
    prefetch: (events) => identifyEvents(sources, events),
    expectedEffects: (event, identified) => countRecipients(identified.get(event)),
    lockQuery: (events, identified) => lockOrderingKeysQuery(seriesAndLanesOf(events, identified)),
    readQuery: (events, identified) => findStoredStateQuery(seriesAndLanesOf(events, identified)),
    planWrites: (events, identified, stored) => {
      const newEvents = events.map((received) => toNewEvent(received, identified));
      return planWrites(deps, newEvents, stored);
    },
    onCommitted({ leased, leasedAtMs, unleased, recipients }) {
      queue.breakers.requestProbesOfNew(recipients);
      queue.add(leased, leasedAtMs);
      if (unleased.size > 0) queue.backlog.add(unleased);
    },
  });
}

/** How many deliveries the event must have, independently of their planning. */
function countRecipients(found: IdentifiedEvent | undefined): number {
  return found === undefined || 'unreadable' in found ? 0 : found.recipients.length;
}

/** The series and lanes whose state is read. An unreadable event has none: `toNewEvent` throws its error. */
function seriesAndLanesOf(
  events: readonly ReceivedEvent[],
  identified: IdentifiedBatch,
): SeriesAndLanes[] {
  return events.flatMap((received) => {
    const found = identified.get(received);
    if (found === undefined || 'unreadable' in found) return [];
    const { source, eventType, recipients } = found;
    return [
      {
        seriesPosition: source.seriesPosition?.(received.event),
        orderingKey: eventType?.orderingKey(received.event),
        recipients,
      },
    ];
  });
}

/** Renders the event's webhook. Throws `UnreadableEventError` for an event that becomes a dead letter. */
function toNewEvent(received: ReceivedEvent, identified: IdentifiedBatch): NewEvent {
  const found = identified.get(received);
  if (found === undefined) throw new Error('every event of the batch was identified');
  if ('unreadable' in found) throw found.unreadable;
  const { source, eventType, recipients } = found;
  const { id: eventId, event, traceparent } = received;
  return {
    eventId,
    recordedAt: source.recordedAt(event),
    traceparent,
    seriesPosition: source.seriesPosition?.(event),
    webhook: eventType && {
      event: eventType.name,
      orderingKey: eventType.orderingKey(event),
      numberingKey: eventType.numberingKey(event),
      content: contentOf(eventType, event),
      recipients,
    },
  };
}

function contentOf({ rendering, schema }: WebhookEventType, event: unknown): Content {
  if (rendering.at === 'sending') {
    return { kind: 'reference', reference: rendering.reference(event) };
  }
  const { body, mismatch } = schema.render(rendering.payload(event));
  return mismatch === undefined
    ? { kind: 'body', body }
    : { kind: 'unsendable', body, reason: mismatch };
}

interface CommittedIntake {
  /** What this process sends now. */
  readonly leased: readonly LeasedDelivery[];
  /** By performance.now(). */
  readonly leasedAtMs: number;
  /** Destinations with due deliveries that this process has no capacity for, unless their circuit breakers are open. */
  readonly unleased: ReadonlySet<string>;
  /** Of all messages; none while all circuit breakers are closed. */
  readonly recipients: readonly Recipient[];
}

/** Plans the deliveries of new events, and leases those that this process has capacity for. */
function planWrites(
  { queue, leaseMs }: IntakeDeps,
  events: readonly NewEvent[],
  stored: StoredState,
): PlannedWrites<CommittedIntake> {
  const leasedAtMs = performance.now();
  const plan = planDeliveries(events, stored, newId);
  const capacity = queue.intakeCapacity();
  const leased = new Set<PlannedDelivery>();
  const unleased = new Set<string>();
  for (const delivery of plan.deliveries) {
    if (delivery.state !== 'due') continue;
    // A destination with a backlog has earlier due deliveries in the database, which are claimed first.
    const { destinationId } = delivery;
    if (!queue.backlog.mayInclude(destinationId) && capacity.take(destinationId)) {
      leased.add(delivery);
    } else if (!queue.breakers.has(destinationId)) {
      unleased.add(destinationId);
    }
  }
  const { enabledRevisions, staleEventIds } = plan;
  return {
    writes: [
      enabledRevisions.size > 0 ? enableDestinationsQuery(enabledRevisions) : undefined,
      insertPlanQuery(plan, leased, leaseMs),
      staleEventIds.length > 0 ? expectNoDeliveriesQuery(staleEventIds) : undefined,
    ],
    result: {
      leased: [...leased].map(toLeasedDelivery),
      leasedAtMs,
      unleased,
      recipients:
        queue.breakers.size === 0 ? [] : plan.messages.flatMap(({ webhook }) => webhook.recipients),
    },
  };
}

function toLeasedDelivery(planned: PlannedDelivery): LeasedDelivery {
  const { id, message, destinationId, sequence } = planned;
  const { webhook, recordedAt, traceparent } = message;
  const { event, orderingKey, content } = webhook;
  if (content.kind === 'unsendable' || sequence === null) {
    throw new Error('only deliveries that can be sent are leased');
  }
  return {
    id,
    // As `insertPlanQuery` writes the row of a leased delivery.
    fence: 1,
    attempts: 0,
    replays: 0,
    orderingKey,
    destinationId,
    event,
    body: content.kind === 'body' ? content.body : null,
    reference: content.kind === 'reference' ? content.reference : null,
    sequence,
    recordedAt,
    traceparent,
  };
}
