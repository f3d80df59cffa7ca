/**
 * Turns bus events into deliveries. A batch of events is one transaction; the deliveries that it leases
 * for this process are sent after its commit.
 */
import type { EventMessage } from '@creditlane/events/message';
import { createInboxHandler, type ReceivedEvent } from '@creditlane/messaging/transactional-inbox';
import { FEW_ROWS } from '@creditlane/postgres/array-rows';
import type { Database } from '@creditlane/postgres/database';
import { mapQueryResult, type Query } from '@creditlane/postgres/statement';
import type { PlannedWrites } from '@creditlane/postgres/transaction';
import { newId } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { WebhookEventType, WebhookSource } from '../events/webhook-event-type.ts';
import type { Backlog } from '../queue/backlog.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import type { DeferredResults } from '../sending/deferred-results.ts';
import { SERVICE } from '../service-name.ts';
import { enableDestinationsQuery } from '../store/destinations.ts';
import { expectNoDeliveriesQuery } from '../store/intake/expected-deliveries.ts';
import { insertInOneRoundTripQuery } from '../store/intake/one-round-trip-intake.ts';
import {
  findStoredStateQuery,
  insertPlanQuery,
  lockOrderingKeysQuery,
  type SeriesAndLanes,
} from '../store/intake/two-round-trip-intake.ts';
import { type CommittedIntake, chooseLeased, committedIntake } from './committed-intake.ts';
import { type IdentifiedBatch, type IdentifiedEvent, identifyEvents } from './identify.ts';
import {
  type Content,
  type NewEvent,
  NOTHING_STORED,
  planDeliveries,
  type StoredState,
  seriesKey,
} from './plan.ts';

export interface IntakeDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly sources: readonly WebhookSource[];
  readonly queue: DeliveryQueue;
  readonly breakers: OpenBreakers;
  readonly backlog: Backlog;
  readonly deferredResults: Pick<DeferredResults, 'addWaiting'>;
  readonly leaseMs: number;
}

/**
 * The handler to subscribe with. It rejects, so that the batch comes again, while the database or a
 * service that recipients are looked up in is unavailable.
 */
export function createIntake(deps: IntakeDeps): (batch: EventMessage[]) => Promise<void> {
  const { pool, log, metrics, queue, breakers, backlog, deferredResults } = deps;
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
    writeInOneRoundTrip: (events, identified) => {
      const newEvents = events.map((received) => toNewEvent(received, identified));
      const expectedEffects = events.map((event) => countRecipients(identified.get(event)));
      return writeInOneRoundTrip(deps, newEvents, expectedEffects);
    },
    onCommitted({ leased, leasedAtMs, waiting, unleased, recipients }) {
      breakers.requestProbesOfNew(recipients);
      queue.add(leased, leasedAtMs);
      deferredResults.addWaiting(waiting);
      if (unleased.size > 0) backlog.add(unleased);
    },
  });
}

/** How many deliveries the event must have, independently of their planning. */
function countRecipients(found: IdentifiedEvent | undefined): number {
  return found?.kind === 'readable' ? found.recipients.length : 0;
}

/** The series and lanes whose state is read. An unreadable event has none: `toNewEvent` throws its error. */
function seriesAndLanesOf(
  events: readonly ReceivedEvent[],
  identified: IdentifiedBatch,
): SeriesAndLanes[] {
  return events.flatMap((received) => {
    const found = identified.get(received);
    if (found?.kind !== 'readable') return [];
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
  if (found.kind === 'unreadable') throw found.error;
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

function contentOf({ rendering, renderBody }: WebhookEventType, event: unknown): Content {
  if (rendering.at === 'sending') {
    return { kind: 'reference', reference: rendering.reference(event) };
  }
  const { body, mismatch } = renderBody(rendering.payload(event));
  return mismatch === undefined
    ? { kind: 'body', body }
    : { kind: 'unsendable', body, reason: mismatch };
}

/** Plans the deliveries of new events, and leases those that this process has capacity for. */
function planWrites(
  deps: IntakeDeps,
  events: readonly NewEvent[],
  stored: StoredState,
): PlannedWrites<CommittedIntake> {
  const leasedAtMs = performance.now();
  const plan = planDeliveries(events, stored, newId);
  const leasedIds = chooseLeased(deps, plan.deliveries);
  const { enabledRevisions, staleEventIds } = plan;
  return {
    writes: [
      enabledRevisions.size > 0 ? enableDestinationsQuery(enabledRevisions) : undefined,
      insertPlanQuery(plan, leasedIds, deps.leaseMs),
      staleEventIds.length > 0 ? expectNoDeliveriesQuery(staleEventIds) : undefined,
    ],
    result: committedIntake(deps.breakers, plan, leasedIds, leasedAtMs),
  };
}

/**
 * Plans the deliveries as if nothing were stored, which the statement corrects. Returns undefined for a batch that it cannot
 * correct, or that is so large that a further round trip costs little.
 */
function writeInOneRoundTrip(
  deps: IntakeDeps,
  events: readonly NewEvent[],
  expectedEffects: readonly number[],
): Query<CommittedIntake | undefined> | undefined {
  const leasedAtMs = performance.now();
  const plan = planDeliveries(events, NOTHING_STORED, newId);
  const { staleEventIds, messages, deliveries } = plan;
  const rows = Math.max(events.length, deliveries.length);
  if (staleEventIds.length > 0 || rows > FEW_ROWS) return undefined;
  const leasedIds = chooseLeased(deps, deliveries);
  const ids = events.map(({ eventId }) => eventId);
  const firstSequences = firstSequencesOf(events);
  const query = insertInOneRoundTripQuery(
    { ids, expectedEffects, firstSequences },
    plan,
    leasedIds,
    deps.leaseMs,
  );
  return mapQueryResult(query, (written) => {
    if (written === undefined) return undefined;
    return committedIntake(deps.breakers, { messages, deliveries: written }, leasedIds, leasedAtMs);
  });
}

/** Of events that are in order, the first sequence of each series. */
export function firstSequencesOf(events: readonly NewEvent[]): ReadonlyMap<string, number> {
  const positions = events.flatMap(({ seriesPosition }) => seriesPosition ?? []);
  return new Map(positions.toReversed().map((it) => [seriesKey(it), it.sequence] as const));
}
