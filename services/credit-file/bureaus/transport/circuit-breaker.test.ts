import { expect, test } from 'vitest';
import { CircuitBreaker } from './circuit-breaker.ts';

function openBreaker() {
  const clock = { nowMs: 0 };
  const breaker = new CircuitBreaker(
    5,
    () => clock.nowMs,
    () => 0.5,
  );
  const fail = (times: number) => {
    for (let count = 0; count < times; count += 1) breaker.admit()?.('failure');
  };
  return { breaker, clock, fail };
}

test('a success between failures keeps the breaker closed', () => {
  const { breaker, fail } = openBreaker();
  fail(4);
  breaker.admit()?.('success');
  fail(4);
  expect(breaker.state).toBe('closed');
  fail(1);
  expect(breaker.state).toBe('open');
  expect(breaker.admit()).toBeUndefined();
});

test('each failed probe opens the breaker for longer, up to a minute or so', () => {
  const { breaker, clock, fail } = openBreaker();
  fail(5);
  const pausesMs: number[] = [];
  for (let probe = 0; probe < 6; probe += 1) {
    const openedMs = clock.nowMs;
    while (breaker.state === 'open') clock.nowMs += 500;
    pausesMs.push(clock.nowMs - openedMs);
    fail(1);
  }
  expect(pausesMs).toEqual([5_000, 7_500, 12_500, 22_500, 32_500, 32_500]);
});

test('a half-open breaker admits one probe until the probe has ended', () => {
  const { breaker, clock, fail } = openBreaker();
  fail(5);
  clock.nowMs = 5_000;
  const probe = breaker.admit();
  expect(breaker.admit()).toBeUndefined();
  probe?.('nothing');
  const second = breaker.admit();
  expect(breaker.admit()).toBeUndefined();
  second?.('success');
  expect(breaker.state).toBe('closed');
});

test('an inquiry that was admitted before the breaker opened neither ends the probe nor delays it', () => {
  const { breaker, clock, fail } = openBreaker();
  const early = [breaker.admit(), breaker.admit()];
  fail(5);
  clock.nowMs = 4_999;
  early[0]?.('failure');
  clock.nowMs = 5_000;
  const probe = breaker.admit();
  expect(probe).toBeDefined();
  early[1]?.('failure');
  expect(breaker.admit()).toBeUndefined();
});

test('a success of an inquiry that was admitted before the breaker opened closes it while a probe is under way', () => {
  const { breaker, clock, fail } = openBreaker();
  const early = breaker.admit();
  fail(5);
  clock.nowMs = 5_000;
  const probe = breaker.admit();
  early?.('success');
  expect(breaker.state).toBe('closed');
  expect(breaker.admit()).toBeDefined();
  probe?.('failure');
  expect(breaker.state).toBe('closed');
});
