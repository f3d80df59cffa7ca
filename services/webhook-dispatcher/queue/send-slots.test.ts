import { describe, expect, it } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.ts';
import type { LeasedDelivery } from './delivery.ts';
import { DestinationQueue, type QueueEntry } from './destination-queue.ts';
import { SendSlots } from './send-slots.ts';

const LATER_MS = 1_000;

type Kind = 'answering' | 'untried' | 'suspect';

function destinationThatIs(kind: Kind): DestinationQueue {
  const limit = new AdaptiveLimit(64);
  if (kind !== 'untried') limit.succeeded(false);
  const destination = new DestinationQueue('destination', limit);
  destination.isSuspect = kind === 'suspect';
  return destination;
}

/** Starts as many requests as the slots allow at `nowMs`, 100 at most. */
function startAll(slots: SendSlots, destination: DestinationQueue, nowMs = 0): QueueEntry[] {
  const entries: QueueEntry[] = [];
  while (entries.length < 100 && slots.mayStart(destination)) {
    const delivery = {} as LeasedDelivery;
    const request = { sentAtMs: 0, isSlow: false, isProven: false };
    const entry = { delivery, leasedUntilMs: 0, destination, ...request };
    slots.start(entry, nowMs);
    entries.push(entry);
  }
  return entries;
}

describe('the send slots', () => {
  it.each<[Kind, number]>([
    ['answering', 8],
    ['untried', 6],
    ['suspect', 4],
  ])('give destinations that are %s at most %i of eight', (kind, count) => {
    const slots = new SendSlots(8);
    expect(startAll(slots, destinationThatIs(kind))).toHaveLength(count);
    expect(startAll(slots, destinationThatIs('answering'))).toHaveLength(8 - count);
    expect(slots.isFull).toBe(true);
  });

  it('of destinations known to answer go to untried ones, too, as they become free', () => {
    const slots = new SendSlots(8);
    const entries = startAll(slots, destinationThatIs('answering'));
    for (const entry of entries.slice(0, 7)) slots.finish(entry, 10);
    expect(startAll(slots, destinationThatIs('untried'))).toHaveLength(6);
    expect(startAll(slots, destinationThatIs('answering'))).toHaveLength(1);
    expect(slots.isFull).toBe(true);
  });

  it('give the only free one to an untried destination while all others answer', () => {
    const slots = new SendSlots(8);
    const [entry] = startAll(slots, destinationThatIs('answering'));
    if (entry) slots.finish(entry, 10);
    expect(startAll(slots, destinationThatIs('untried'))).toHaveLength(1);
  });

  it('of slow requests go to others, untried ones too, two for each slot', () => {
    const slots = new SendSlots(8);
    const started = [1, 2, 3, 4].map((round) => {
      const hanging = destinationThatIs('untried');
      const count = startAll(slots, hanging, round * LATER_MS).length;
      expect(slots.updateSlow(hanging, (round + 1) * LATER_MS - 1)).toBe(false);
      expect(slots.updateSlow(hanging, (round + 1) * LATER_MS)).toBe(true);
      return count;
    });
    expect(started).toEqual([6, 6, 6, 4]);
    expect(startAll(slots, destinationThatIs('answering'))).toHaveLength(2);
  });

  it('when a destination has become suspect, its requests count as those of suspects until they end', () => {
    const slots = new SendSlots(8);
    const hanging = destinationThatIs('answering');
    const entries = startAll(slots, hanging).slice(0, 3);
    slots.updateSlow(hanging, LATER_MS);
    slots.setSuspect(hanging, true);
    expect(slots.suspectsLeft).toBe(0);
    const wereSlow = entries.map((entry) => slots.finish(entry, LATER_MS));
    expect(wereSlow).toEqual([true, true, true]);
    expect([slots.slow, slots.suspectsLeft]).toEqual([5, 0]);
    slots.setSuspect(hanging, false);
    expect(slots.suspectsLeft).toBe(4);
  });
});
