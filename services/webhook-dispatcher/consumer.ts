/** Takes decision events in: each batch becomes its deliveries in one transaction, and goes out after it. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { EventMessage } from '@creditlane/events/message';
import type { Database } from '@creditlane/postgres/database';
import { handleOnce, type ReceivedEvent } from '@creditlane/postgres/inbox';
import type { Queryable } from '@creditlane/postgres/statement';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import { isUuid, newId } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/log';
import type { Metrics } from '@creditlane/runtime/metrics';
import type { Claimer } from './claimer.ts';
import type { Delivery } from './delivery.ts';
import { type Destinations, type Recipient, SERVICE } from './destinations.ts';
import { type Incoming, type PlannedDelivery, planDeliveries } from './fan-out.ts';
import { findKnown, insertPlanned } from './fan-out-store.ts';
import { render, UnreadableEvent } from './render.ts';
import type { Sender } from './sender.ts';

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
  return handleOnce({
    consumer: SERVICE,
    pool,
    log,
    metrics,
    prepare: (events) => findRecipients(destinations, events),
    apply: (tx, events, recipients) => takeIn(deps, tx, toIncoming(events, recipients)),
    committed({ leased, leasedAtMs, left }) {
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
async function takeIn(
  { sender, claimer, leaseMs }: ConsumerDeps,
  tx: Queryable,
  batch: readonly Incoming[],
): Promise<TakenIn> {
  const leasedAtMs = performance.now();
  const plan = planDeliveries(batch, await findKnown(tx, batch), newId);
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
  await insertPlanned(tx, plan, leased, leaseMs);
  return { leased: [...leased].map(toDelivery), leasedAtMs, left };
}

function toDelivery({ id, destinationId, incoming, sequence }: PlannedDelivery): Delivery {
  const { rendering, recordedAt } = incoming;
  if (rendering.kind !== 'sendable' || sequence === null) {
    throw new Error('only what can be sent is ever leased');
  }
  const { event, body } = rendering;
  const { traceparent } = incoming;
  const first = { fence: 1, attempts: 0 };
  return { id, ...first, destinationId, event, body, sequence, recordedAt, traceparent };
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
