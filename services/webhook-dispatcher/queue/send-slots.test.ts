import { describe, expect, test } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.ts';
import type { LeasedDelivery } from './delivery.ts';
import { DestinationQueue, NOT_TAKEN, type QueueEntry } from './destination-queue.ts';
import { SendSlots, SLOW_MS } from './send-slots.ts';

type Kind = 'answering' | 'unproven' | 'suspect';

function destinationThatIs(kind: Kind): DestinationQueue {
  const limit = new AdaptiveLimit(64);
  if (kind !== 'unproven') limit.succeeded(false);
  const destination = new DestinationQueue('destination', limit);
  destination.isSuspect = kind === 'suspect';
  return destination;
}

/** Starts as many requests as the slots allow at `nowMs`, 100 at most. */
function startAll(slots: SendSlots, destination: DestinationQueue, nowMs = 0): QueueEntry[] {
  const entries: QueueEntry[] = [];
  while (entries.length < 100 && slots.mayStart(destination)) {
    const delivery = {} as LeasedDelivery;
    const entry = { delivery, leasedUntilMs: 0, grantedUntilMs: 0, destination, ...NOT_TAKEN };
    slots.take(entry, nowMs);
    entries.push(entry);
  }
  return entries;
}

describe('the send slots', () => {
  test.each<[Kind, number]>([
    ['answering', 8],
    ['unproven', 6],
    ['suspect', 4],
  ])('give destinations that are %s at most %i of eight', (kind, count) => {
    const slots = new SendSlots(8);
    expect(startAll(slots, destinationThatIs(kind))).toHaveLength(count);
    expect(startAll(slots, destinationThatIs('answering'))).toHaveLength(8 - count);
    expect(slots.isFull).toBe(true);
  });

  test('of destinations known to answer go to unproven ones, too, as they become free', () => {
    const slots = new SendSlots(8);
    const entries = startAll(slots, destinationThatIs('answering'));
    for (const entry of entries.slice(0, 7)) slots.free(entry);
    expect(startAll(slots, destinationThatIs('unproven'))).toHaveLength(6);
    expect(startAll(slots, destinationThatIs('answering'))).toHaveLength(1);
    expect(slots.isFull).toBe(true);
  });

  test('give the only free one to an unproven destination while all others answer', () => {
    const slots = new SendSlots(8);
    const [entry] = startAll(slots, destinationThatIs('answering'));
    if (entry) slots.free(entry);
    expect(startAll(slots, destinationThatIs('unproven'))).toHaveLength(1);
  });

  test('that were held for long go to others, unproven ones too, two for each slot', () => {
    const slots = new SendSlots(8);
    const started = [1, 2, 3, 4].map((round) => {
      const hanging = destinationThatIs('unproven');
      const count = startAll(slots, hanging, round * SLOW_MS).length;
      expect(slots.shareLongHeld(hanging, (round + 1) * SLOW_MS - 1)).toBe(false);
      expect(slots.shareLongHeld(hanging, (round + 1) * SLOW_MS)).toBe(true);
      return count;
    });
    expect(started).toEqual([6, 6, 6, 4]);
    expect(startAll(slots, destinationThatIs('answering'))).toHaveLength(2);
  });

  test('when a destination has become suspect, its requests count as those of suspects until they end', () => {
    const slots = new SendSlots(8);
    const hanging = destinationThatIs('answering');
    const entries = startAll(slots, hanging).slice(0, 3);
    slots.shareLongHeld(hanging, SLOW_MS);
    slots.setSuspect(hanging, true);
    expect(slots.suspectsLeft).toBe(0);
    for (const entry of entries) slots.free(entry);
    expect([slots.shared, slots.suspectsLeft]).toEqual([5, 0]);
    slots.setSuspect(hanging, false);
    expect(slots.suspectsLeft).toBe(4);
  });
});
