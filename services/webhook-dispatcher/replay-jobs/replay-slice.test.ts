import { expect, test } from 'vitest';
import type { LockedDelivery } from '../store/replay-slices.ts';
import { planReplays } from './replay-slice.ts';

const delivery = (id: string, changes: Partial<LockedDelivery> = {}): LockedDelivery => ({
  id,
  orderingKey: 'lane',
  state: 'dead',
  holding: true,
  replays: 0,
  unsendable: false,
  ...changes,
});
const plan = (locked: LockedDelivery[], wanted: string[]) => planReplays(locked, wanted, 'dead');

test('of one lane the first delivery is due and the others wait; another lane does not wait', () => {
  const locked = [delivery('a1'), delivery('a2'), delivery('b1', { orderingKey: 'other' })];
  const replays = [
    { id: 'a1', waits: false },
    { id: 'a2', waits: true },
    { id: 'b1', waits: false },
  ];
  expect(plan(locked, ['a1', 'a2', 'b1'])).toEqual({ replays, skipped: 0 });
});

test('a replay waits for an earlier pending delivery that keeps the lane waiting, and for no other', () => {
  const waitsBehind = (changes: Partial<LockedDelivery>) =>
    plan([delivery('earlier', changes), delivery('a')], ['a']).replays;
  expect(waitsBehind({ state: 'due' })).toEqual([{ id: 'a', waits: true }]);
  expect(waitsBehind({ state: 'waiting' })).toEqual([{ id: 'a', waits: true }]);
  expect(waitsBehind({ state: 'due', holding: false })).toEqual([{ id: 'a', waits: false }]);
  expect(waitsBehind({ state: 'delivered' })).toEqual([{ id: 'a', waits: false }]);
  expect(waitsBehind({ state: 'dead' })).toEqual([{ id: 'a', waits: false }]);
});

test('a delivery that can never be sent or was replayed a hundred times is skipped', () => {
  const locked = [delivery('a', { unsendable: true }), delivery('b', { replays: 100 })];
  expect(plan(locked, ['a', 'b'])).toEqual({ replays: [], skipped: 2 });
});

test('a delivery that was replayed alone meanwhile is left out, and holds its lane', () => {
  const locked = [delivery('a', { state: 'due' }), delivery('b')];
  expect(plan(locked, ['a', 'b'])).toEqual({ replays: [{ id: 'b', waits: true }], skipped: 0 });
});
