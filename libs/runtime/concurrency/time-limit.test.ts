import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { withTimeLimit } from './time-limit.ts';

const never = new Promise<never>(() => {});
const makeError = () => new Error('too late');

test('work that ends in time returns its own outcome', async () => {
  const limit = { limitMs: 60_000, makeError };
  expect(await withTimeLimit(Promise.resolve('done'), limit)).toBe('done');
  const failing = Promise.reject(new Error('broken'));
  await expect(withTimeLimit(failing, limit)).rejects.toThrow('broken');
});

test('work that exceeds the limit rejects with the error of the limit', async () => {
  await expect(withTimeLimit(never, { limitMs: 5, makeError })).rejects.toThrow('too late');
});

test('work that fails after the limit causes no unhandled rejection', async () => {
  const failing = delay(20).then(() => {
    throw new Error('broken');
  });
  await expect(withTimeLimit(failing, { limitMs: 1, makeError })).rejects.toThrow('too late');
  await delay(40);
});

test('with startsOn, the time starts when the signal aborts', async () => {
  const stop = new AbortController();
  const slow = withTimeLimit(
    delay(30).then(() => 'done'),
    { limitMs: 1, startsOn: stop.signal, makeError },
  );
  expect(await slow).toBe('done');

  const stuck = withTimeLimit(never, { limitMs: 1, startsOn: stop.signal, makeError });
  stop.abort();
  await expect(stuck).rejects.toThrow('too late');
  const late = withTimeLimit(never, { limitMs: 1, startsOn: stop.signal, makeError });
  await expect(late).rejects.toThrow('too late');
});
