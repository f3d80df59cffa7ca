/** Takes decision events in: each batch becomes its deliveries in one transaction, and goes out after it. */
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { EventMessage } from '@creditlane/events/message';
import { decodeEvent } from '@creditlane/events/topics';
import type { Database } from '@creditlane/postgres/database';
import { handleOnce, type ReceivedEvent } from '@creditlane/postgres/inbox';
import type { Queryable } from '@creditlane/postgres/statement';
import type { DecisionRecorded } from '@creditlane/proto/decisions/v1/decisions_events';
import { Fault } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import type { Log } from '@creditlane/runtime/log';
import type { Metrics } from '@creditlane/runtime/metrics';
import type { Claimer } from './claimer.ts';
import type { Delivery } from './delivery.ts';
import { type Destinations, SERVICE } from './destinations.ts';
import { type Incoming, type PlannedDelivery, planDeliveries } from './fan-out.ts';
import { findKnown, insertPlanned } from './fan-out-store.ts';
import { render } from './render.ts';
import type { Sender } from './sender.ts';
import { releaseLeases } from './store.ts';

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

/** Who is to be told, by retailer and creditor; a Fault where the question itself made no sense. */
type Recipients = ReadonlyMap<string, readonly string[] | Fault>;

/**
 * The handler to subscribe with. It rejects, so that the batch comes again, while the database or
 * the integrations service is away: an event must not be taken for one that nobody wants to hear.
 */
export function createConsumer(deps: ConsumerDeps): (batch: EventMessage[]) => Promise<void> {
  const { pool, log, metrics, sender, claimer } = deps;

  return async (batch) => {
    // Asked before the transaction begins, so that a slow peer keeps no rows locked.
    const recipients = await findRecipients(deps.destinations, batch);
    const applied: TakenIn[] = [];
    const leasedAtMs = performance.now();
    const handle = handleOnce({
      consumer: SERVICE,
      pool,
      log,
      metrics,
      apply: async (tx, events) => {
        applied.push(await takeIn(deps, tx, toIncoming(events, recipients)));
      },
    });
    await handle(batch);

    const leased = applied.flatMap((takenIn) => takenIn.leased);
    const left = new Set(applied.flatMap((takenIn) => [...takenIn.left]));
    if (applied.length <= 1) {
      sender.take(leased, leasedAtMs);
    } else {
      // A poison event made the inbox apply the events one by one, and some of that was rolled back:
      // the database knows which deliveries there are.
      await releaseLeases(pool, leased, 0);
      for (const { destinationId } of leased) left.add(destinationId);
    }
    if (left.size > 0) claimer.expect(left);
  };
}

interface TakenIn {
  /** What this process may send at once. */
  readonly leased: readonly Delivery[];
  /** Destinations with new deliveries that are due and have no one yet. */
  readonly left: ReadonlySet<string>;
}

/** Writes the deliveries of new events, and leases those that there is room for. */
async function takeIn(
  { sender, claimer, leaseMs }: ConsumerDeps,
  tx: Queryable,
  batch: readonly Incoming[],
): Promise<TakenIn> {
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
  return { leased: [...leased].map(toDelivery), left };
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
    const destinationIds = recipients.get(recipientsKey(event));
    if (destinationIds === undefined) throw new Error('the recipients were not asked for');
    if (destinationIds instanceof Fault) throw destinationIds;
    const { applicationId, creditorId, sequence, recordedAt } = event;
    return {
      eventId: id,
      applicationId,
      creditorId,
      sequence: Number(sequence),
      recordedAt: recordedAt ? timestampDate(recordedAt) : new Date(),
      traceparent,
      rendering: render(event),
      destinationIds,
    };
  });
}

async function findRecipients(
  destinations: Destinations,
  batch: readonly EventMessage[],
): Promise<Recipients> {
  const asked = new Map<string, Promise<readonly string[] | Fault>>();
  for (const message of batch) {
    const recorded = decisionIn(message);
    if (recorded === undefined || asked.has(recipientsKey(recorded))) continue;
    const found = destinations
      .find(recorded.retailerId, recorded.creditorId)
      .catch((error: unknown) => {
        // The event is at fault, not the peer: the inbox parks it.
        if (error instanceof Fault && error.kind === 'invalid') return error;
        throw error;
      });
    asked.set(recipientsKey(recorded), found);
  }
  return new Map(
    await Promise.all([...asked].map(async ([key, found]) => [key, await found] as const)),
  );
}

function decisionIn(message: EventMessage): DecisionRecorded | undefined {
  try {
    const decoded = decodeEvent(message);
    return decoded.type === DECISION_RECORDED ? decoded.event : undefined;
  } catch {
    // The inbox meets the same bytes and parks them with the reason.
    return undefined;
  }
}

function recipientsKey({ retailerId, creditorId }: DecisionRecorded): string {
  return `${retailerId} ${creditorId}`;
}
