/** Which of the new deliveries of an intake this process leases, and what it does with them after the commit. */
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import type { Backlog } from '../queue/backlog.ts';
import type { Lane, LeasedDelivery } from '../queue/delivery.ts';
import type { DeliveryQueue } from '../queue/delivery-queue.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import type { IntakePlan, PlannedDelivery } from './plan.ts';

export interface CommittedIntake {
  /** What this process sends now. */
  readonly leased: readonly LeasedDelivery[];
  /** By performance.now(). */
  readonly leasedAtMs: number;
  /** The lanes of the deliveries that wait, one for each. */
  readonly waiting: readonly Lane[];
  /** Destinations with due deliveries that this process has no capacity for, unless their circuit breakers are open. */
  readonly unleased: ReadonlySet<string>;
  /** The recipients of all messages of the batch, for probing those set anew. Empty while every circuit breaker is closed. */
  readonly recipients: readonly DestinationRevision[];
}

/** The ids of the due deliveries that this process has capacity for. */
export function chooseLeased(
  { queue, backlog }: { queue: DeliveryQueue; backlog: Backlog },
  deliveries: readonly PlannedDelivery[],
): ReadonlySet<string> {
  const takeCapacity = queue.intakeCapacity();
  const leased = deliveries.filter(
    ({ state, destinationId }) =>
      state === 'due' &&
      // A destination with a backlog has earlier due deliveries in the database, which are claimed first.
      !backlog.mayInclude(destinationId) &&
      takeCapacity(destinationId),
  );
  return new Set(leased.map(({ id }) => id));
}

/** What follows from the commit of these messages and deliveries; `leasedIds` may name deliveries that wait. */
export function committedIntake(
  breakers: OpenBreakers,
  { messages, deliveries }: Pick<IntakePlan, 'messages' | 'deliveries'>,
  leasedIds: ReadonlySet<string>,
  leasedAtMs: number,
): CommittedIntake {
  const due = deliveries.filter(({ state }) => state === 'due');
  const waiting = deliveries.filter(({ state }) => state === 'waiting');
  const unleased = due
    .filter(({ id, destinationId }) => !leasedIds.has(id) && !breakers.has(destinationId))
    .map(({ destinationId }) => destinationId);
  return {
    leased: due.filter(({ id }) => leasedIds.has(id)).map(toLeasedDelivery),
    leasedAtMs,
    waiting: waiting.map(({ message, destinationId }) => {
      return { orderingKey: message.webhook.orderingKey, destinationId };
    }),
    unleased: new Set(unleased),
    recipients: breakers.size === 0 ? [] : messages.flatMap(({ webhook }) => webhook.recipients),
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
    // As the row of a leased delivery is inserted.
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
    ageMs: 0,
    traceparent,
  };
}
