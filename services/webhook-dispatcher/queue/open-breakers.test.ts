import { beforeEach, describe, expect, test } from 'vitest';
import { OpenBreakers } from './open-breakers.ts';

let breakers: OpenBreakers;
beforeEach(() => {
  breakers = new OpenBreakers();
  breakers.open('a', 1);
});

const kinds = () => [...breakers.takeChanges().values()].map(({ kind }) => kind);

test('one that opens again before its close is written is written as a close and an open', () => {
  expect(kinds()).toEqual(['opened']);
  breakers.close('a', 'delivery');
  breakers.open('a', 1);
  expect(breakers.has('a')).toBe(true);
  expect(kinds()).toEqual(['reopened']);
});

test('one that opens again while its close cannot be written is written as a close and an open', () => {
  kinds();
  breakers.close('a', 'delivery');
  const unwritten = breakers.takeChanges();
  breakers.open('a', 2);
  breakers.restore(unwritten, new Map());
  expect([...breakers.takeChanges()]).toEqual([['a', { kind: 'reopened', revision: 2 }]]);
});

test('one that closes while its opening cannot be written is written as a close', () => {
  const unwritten = breakers.takeChanges();
  breakers.close('a', 'delivery');
  breakers.restore(unwritten, new Map());
  expect(kinds()).toEqual(['closed']);
});

describe('a paused one', () => {
  const paused = {
    destinationId: 'b',
    revision: 1,
    isDue: false,
    isProbed: false,
    isPaused: true,
    isUntried: false,
  };
  beforeEach(() => {
    kinds();
    breakers.addProbe('b', 'earlier probe');
    breakers.replace([paused]);
  });

  test('is not closed by the success of a probe from before the pause, nor may another such request begin', () => {
    expect(breakers.maySend('b', 'earlier probe')).toBe(false);
    breakers.close('b', 'earlier probe');
    expect(breakers.has('b')).toBe(true);
    expect(kinds()).toEqual([]);
  });

  test('is closed by the probe that was claimed after the pause, before its end was read', () => {
    breakers.addProbe('b', 'probe');
    expect(breakers.maySend('b', 'probe')).toBe(true);
    breakers.close('b', 'probe');
    expect(breakers.has('b')).toBe(false);
    expect(kinds()).toEqual(['closed']);
  });
});

test('a paused one that an earlier version tries is not counted as tried', () => {
  const stored = {
    destinationId: 'b',
    revision: 1,
    isDue: false,
    isProbed: true,
    isUntried: false,
  };
  breakers.replace([{ ...stored, isPaused: true }]);
  expect(breakers.probed).toBe(0);
  breakers.replace([{ ...stored, isPaused: false }]);
  expect(breakers.probed).toBe(1);
});

test('breakers of other processes are known, and own changes that are not written yet', () => {
  kinds();
  breakers.open('b', 1);
  const stored = {
    destinationId: 'c',
    revision: 1,
    isDue: false,
    isProbed: false,
    isPaused: false,
    isUntried: false,
  };
  expect(breakers.replace([stored])).toEqual(['a']);
  expect(['a', 'b', 'c'].map((id) => breakers.has(id))).toEqual([false, true, true]);
});
