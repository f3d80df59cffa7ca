/** How many more deliveries the queue of this process may get. */
import type { Backlog, ClaimCapacity } from './backlog.ts';
import { capacityFor, type DestinationQueues, QUEUED_PER_REQUEST } from './destination-queue.ts';
import type { OpenBreakers } from './open-breakers.ts';
import type { DestinationRates } from './rates/destination-rates.ts';
import type { SendSlots } from './send-slots.ts';

export interface QueueCapacityDeps {
  readonly maxInFlight: number;
  readonly destinations: Pick<DestinationQueues, 'find' | 'ids' | 'limitOf' | 'limitOfNew'>;
  readonly slots: Pick<SendSlots, 'isFull' | 'shared' | 'suspectsLeft'>;
  readonly breakers: Pick<OpenBreakers, 'has'>;
  readonly rates: Pick<DestinationRates, 'has' | 'ids'>;
  readonly backlog: Pick<Backlog, 'destinationIds'>;
}

/**
 * How many deliveries to limited destinations may wait while others take all slots or fill the queue, as a part of MAX_IN_FLIGHT.
 * Every second turn is theirs (turns.ts), and a slot is free again after a second (send-slots.ts). So all have had their turns
 * after a quarter of a second, and their permits last for longer.
 */
const MAX_LIMITED_WAITING = 1 / 8;

export class QueueCapacity {
  readonly #deps: QueueCapacityDeps;

  constructor(deps: QueueCapacityDeps) {
    this.#deps = deps;
  }

  /** Of a queue of `size` deliveries. A delivery that shares its slot does not use up the capacity for others. */
  left(size: number): number {
    const { maxInFlight, slots } = this.#deps;
    return Math.max(0, maxInFlight * QUEUED_PER_REQUEST + slots.shared - size);
  }

  /** Of a destination, while the queue has capacity left. */
  ofDestination(id: string): number {
    const { destinations, slots, breakers, rates } = this.#deps;
    // Deliveries to a limited destination get their permits when they are claimed.
    if (breakers.has(id) || rates.has(id)) return 0;
    const destination = destinations.find(id);
    if (destination === undefined) return capacityFor(destinations.limitOf(id), 0);
    if (!destination.isSuspect) return destination.capacity;
    // A suspect destination gets no more than can be sent at once.
    const { limit, size } = destination;
    return slots.suspectsLeft === 0 ? 0 : Math.max(0, limit.requests - size);
  }

  /** Returns the function by which an intake takes one of these `total`; it returns false when none is left for the destination. */
  forIntake(total: number): (destinationId: string) => boolean {
    let totalLeft = total;
    const byDestination = new Map<string, number>();
    return (id) => {
      const left = byDestination.get(id) ?? this.ofDestination(id);
      if (left <= 0 || totalLeft <= 0) return false;
      byDestination.set(id, left - 1);
      totalLeft -= 1;
      return true;
    };
  }

  /** Names the destinations with a delivery here or a backlog; any other one may have as many as a new destination. */
  forClaim(total: number): ClaimCapacity {
    const { destinations, breakers, rates, backlog } = this.#deps;
    const byDestination = new Map<string, number>();
    for (const id of destinations.ids) byDestination.set(id, this.ofDestination(id));
    for (const id of backlog.destinationIds) {
      // Nothing is claimed of those with an open circuit breaker: see store/breakers.ts.
      if (!breakers.has(id)) byDestination.set(id, this.ofDestination(id));
    }
    // Nor of limited ones: see store/rates.ts.
    for (const id of rates.ids) byDestination.delete(id);
    return { total, byDestination, otherDestinations: capacityFor(destinations.limitOfNew(), 0) };
  }

  /**
   * As `forClaim`, of limited destinations: what can be sent at once, because a permit does not last. While others take all slots or
   * fill the queue, one delivery of a limited destination may wait for its turn.
   */
  forLimitedClaim(total: number): ClaimCapacity {
    const { maxInFlight, destinations, slots, rates } = this.#deps;
    const maxWaiting = slots.isFull ? 1 : Infinity;
    const otherDestinations = Math.min(destinations.limitOfNew().requests, maxWaiting);
    const byDestination = new Map<string, number>();
    let waitingLeft = Math.ceil(maxInFlight * MAX_LIMITED_WAITING);
    for (const id of rates.ids) {
      const queue = destinations.find(id);
      const waiting = queue?.waiting.length ?? 0;
      waitingLeft -= waiting;
      const isHeldBack = queue?.isSuspect === true && slots.suspectsLeft === 0;
      const sendable = queue?.sendCapacity ?? destinations.limitOf(id).requests;
      const capacity = isHeldBack ? 0 : Math.max(0, Math.min(sendable, maxWaiting - waiting));
      if (capacity !== otherDestinations) byDestination.set(id, capacity);
    }
    const totalLeft = Math.max(slots.isFull ? 0 : total, waitingLeft);
    return { total: totalLeft, byDestination, otherDestinations };
  }
}
