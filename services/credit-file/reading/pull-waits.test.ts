import { randomUUID } from 'node:crypto';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useApplicant } from '../test-credit-file.ts';
import { PullWaits } from './pull-waits.ts';

const fixture = useApplicant();
let pullWaits: PullWaits;
let isDraining: boolean;
beforeEach(() => {
  isDraining = false;
  pullWaits = new PullWaits(fixture.service.sql, silentLog, () => isDraining);
});
afterEach(() => pullWaits.close());

/** Begins to wait for a pull that never ends. */
function begin(callerId: string, pullId: string = randomUUID()) {
  const stop = new AbortController();
  const wait = { ended: false, stop: () => stop.abort(), promise: Promise.resolve() };
  const options = { callerId, timeoutMs: 3_600_000, signal: stop.signal };
  wait.promise = pullWaits.wait(pullId, options).then(() => {
    wait.ended = true;
  });
  return wait;
}

test('a caller with a hundred waits gets no further one, and another caller does', async () => {
  const waits = Array.from({ length: 100 }, () => begin('a'));
  await begin('a').promise;
  const other = begin('b');
  expect(waits.some(({ ended }) => ended)).toBe(false);
  waits[0]?.stop();
  await waits[0]?.promise;
  const next = begin('a');
  await begin('a').promise;
  expect([other.ended, next.ended]).toEqual([false, false]);
});

test('the end of a pull ends the waits for that pull only', async () => {
  const pullId = randomUUID();
  const [first, second, other] = [begin('a', pullId), begin('b', pullId), begin('a')];
  pullWaits.report(pullId);
  await Promise.all([first.promise, second.promise]);
  expect(other.ended).toBe(false);
});

test('a caller that hangs up, a time that is over and a close end a wait', async () => {
  const left = begin('a');
  left.stop();
  await left.promise;
  const signal = new AbortController().signal;
  await pullWaits.wait(randomUUID(), { callerId: 'a', timeoutMs: 1, signal });
  await pullWaits.wait(randomUUID(), { callerId: 'a', timeoutMs: -1, signal });
  const open = begin('a');
  await pullWaits.close();
  await open.promise;
});

test('once the process drains, every wait ends and none begins', async () => {
  const wait = begin('a');
  isDraining = true;
  await wait.promise;
  await begin('a').promise;
});
