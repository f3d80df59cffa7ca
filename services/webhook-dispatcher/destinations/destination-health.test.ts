import { expect, test } from 'vitest';
import type { LeasedDelivery } from '../queue/delivery.ts';
import type { AttemptResult } from '../sending/attempt.ts';
import { HealthTracker } from './destination-health.ts';

const DELIVERY = { destinationId: 'destination', attempts: 0, replays: 0 } as LeasedDelivery;
const SUCCESS = { delivery: DELIVERY, revision: 1, state: 'delivered' } as AttemptResult;
const FAILURE: AttemptResult = { ...SUCCESS, state: 'due' };

/** A tracker that has stored a success of the destination just now. */
function afterSuccess() {
  const tracker = new HealthTracker();
  tracker.markStored(tracker.changesAfter([SUCCESS]));
  return tracker;
}

test('a further success, at a first attempt, changes nothing that is stored', () => {
  expect(afterSuccess().changesAfter([SUCCESS]).size).toBe(0);
});

test('a failure after a success is stored, and a success of the same batch outweighs it', () => {
  expect([...afterSuccess().changesAfter([FAILURE]).values()]).toMatchObject([
    { succeeded: false },
  ]);
  expect(afterSuccess().changesAfter([FAILURE, SUCCESS]).size).toBe(0);
});

test.each([{ attempts: 1 }, { replays: 1 }])(
  'the success of a delivery that may have failed elsewhere (%j) is always stored',
  (earlier) => {
    const success = { ...SUCCESS, delivery: { ...DELIVERY, ...earlier } };
    expect(afterSuccess().changesAfter([success]).size).toBe(1);
    expect(afterSuccess().changesAfter([success, SUCCESS]).size).toBe(1);
  },
);
