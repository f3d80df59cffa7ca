/** Takes decision events in: each batch becomes its deliveries in one transaction, and goes out after it. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { EventMessage } from '@creditlane/events/message';
import { createInboxHandler, type ReceivedEvent } from '@creditlane/messaging/transactional-inbox';
import type { Database } from '@creditlane/postgres/database';
import type { PlannedWrites } from '@creditlane/postgres/transaction';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import { isUuid, newId } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { type Destinations, type Recipient, SERVICE } from '../destinations/destinations.ts';
import { render, UnreadableEvent } from '../events/decision-body.ts';
import type { Claimer } from '../queue/claimer.ts';
import type { Delivery } from '../queue/delivery.ts';
import type { Sender } from '../sending/sender.ts';
import { enablingDestinations } from '../store/destinations.ts';
import { findingKnown, insertingPlanned, type Told } from '../store/intake.ts';
import { type Incoming, type Known, type PlannedDelivery, planDeliveries } from './plan.ts';

export interface ConsumerDeps {
  readonly pool: Database['pool'];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly destinations: Destinations;
  readonly sender: Sender;
  readonly claimer: Claimer;
  readonly leaseMs: number;
}

const DECISION_RECORDED = 'creditlane.decisions.v1.DecisionRecorded';

/** Who is to be told, by retailer and creditor. */
type Recipients = ReadonlyMap<string, readonly Recipient[]>;

/**
 * The handler to subscribe with. It rejects, so that the batch comes again, while the database or
 * the integrations service is away: an event must not be taken for one that nobody wants to hear.
 */
export function createConsumer(deps: ConsumerDeps): (batch: EventMessage[]) => Promise<void> {
  const { pool, log, metrics, destinations, sender, claimer } = deps;
  return createInboxHandler({
    consumer: SERVICE,
    pool,
    log,
    metrics,
    prefetch: (events) => findRecipients(destinations, events),
    readQuery: (events, recipients) => findingKnown(toldOf(events, recipients)),
    planWrites: (events, recipients, known) => takeIn(deps, toIncoming(events, recipients), known),
    onCommitted({ leased, leasedAtMs, left }) {
      sender.take(leased, leasedAtMs);
      if (left.size > 0) claimer.expect(left);
    },
  });
}

interface TakenIn {
  /** What this process may send at once. */
  readonly leased: readonly Delivery[];
  /** By performance.now(). */
  readonly leasedAtMs: number;
  /** Destinations with new deliveries that are due and have no one yet. */
  readonly left: ReadonlySet<string>;
}

/** Writes the deliveries of new events, and leases those that there is room for. */
function takeIn(
  { sender, claimer, leaseMs }: ConsumerDeps,
  batch: readonly Incoming[],
  known: Known,
): PlannedWrites<TakenIn> {
  const leasedAtMs = performance.now();
  const plan = planDeliveries(batch, known, newId);
  const room = sender.room();
  const leased = new Set<PlannedDelivery>();
  const left = new Set<string>();
  for (const delivery of plan.deliveries) {
    const { destinationId, state } = delivery;
    if (state !== 'due') continue;
    const places = room.byDestination.get(destinationId) ?? room.other;
    if (places <= 0 || leased.size >= room.total || claimer.isBacklogged(destinationId)) {
      left.add(destinationId);
    } else {
      room.byDestination.set(destinationId, places - 1);
      leased.add(delivery);
    }
  }
  const { enabled } = plan;
  return {
    writes: [
      enabled.size > 0 ? enablingDestinations(enabled) : undefined,
      insertingPlanned(plan, leased, leaseMs),
    ],
    result: { leased: [...leased].map(toDelivery), leasedAtMs, left },
  };
}

function toDelivery({ id, destinationId, incoming, sequence }: PlannedDelivery): Delivery {
  const { applicationId, rendering, recordedAt } = incoming;
  if (rendering.kind !== 'sendable' || sequence === null) {
    throw new Error('only what can be sent is ever leased');
  }
  const { event, body } = rendering;
  const { traceparent } = incoming;
  const first = { fence: 1, attempts: 0 };
  return {
    id,
    ...first,
    applicationId,
    destinationId,
    event,
    body,
    sequence,
    recordedAt,
    traceparent,
  };
}

/** Whom the events tell of what. One that makes no sense tells nobody; it is refused when it is applied. */
function toldOf(events: readonly ReceivedEvent[], recipients: Recipients): Told[] {
  return events.flatMap(({ type, event }) => {
    if (type !== DECISION_RECORDED) return [];
    const { applicationId, creditorId } = event;
    const told = recipients.get(recipientsKey(event));
    return told === undefined ? [] : [{ applicationId, creditorId, recipients: told }];
  });
}

function toIncoming(events: readonly ReceivedEvent[], recipients: Recipients): Incoming[] {
  return events.map(({ id, type, event, traceparent }) => {
    if (type !== DECISION_RECORDED) throw new Error(`no webhook is made of a ${type}`);
    const told = recipients.get(recipientsKey(event));
    if (told === undefined) throw new UnreadableEvent('no creditor or retailer has such an id');
    const { applicationId, creditorId, sequence, recordedAt } = event;
    return {
      eventId: id,
      applicationId,
      creditorId,
      sequence: Number(sequence),
      recordedAt: recordedAt ? timestampDate(recordedAt) : new Date(),
      traceparent,
      rendering: render(event),
      recipients: told,
    };
  });
}

/** Asks once for all that the batch is about. What has no ids to ask by is left out. */
async function findRecipients(
  destinations: Destinations,
  events: readonly ReceivedEvent[],
): Promise<Recipients> {
  const pairs = new Map<string, DecisionRecorded>();
  for (const { type, event } of events) {
    if (type !== DECISION_RECORDED) continue;
    const { retailerId, creditorId } = event;
    if (isUuid(retailerId) && isUuid(creditorId)) pairs.set(recipientsKey(event), event);
  }
  const found = await destinations.findRecipients(
    [...pairs.values()].map(({ retailerId, creditorId }) => ({ retailerId, creditorId })),
    events.find(({ traceparent }) => traceparent !== undefined)?.traceparent,
  );
  return new Map([...pairs.keys()].map((key, n) => [key, found[n] ?? []]));
}

function recipientsKey({ retailerId, creditorId }: DecisionRecorded): string {
  return `${retailerId} ${creditorId}`;
}
