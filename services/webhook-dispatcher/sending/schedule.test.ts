import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../egress/exchange.ts';
import { nextStep } from './schedule.ts';

const HOUR_MS = 3_600_000;
const DELAYS_MS = [5_000, 300_000, 2 * HOUR_MS, 24 * HOUR_MS];
const refusal = fc
  .integer({ min: 100, max: 599 })
  .filter((status) => status !== 410 && (status < 200 || status > 299));
const failure: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ kind: fc.constant('answered' as const), status: refusal }),
  fc.record({ kind: fc.constant('failed' as const), reason: fc.string() }),
);
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const attempt = fc.integer({ min: 1, max: DELAYS_MS.length });

describe('the retry schedule', () => {
  test('on any 2xx the delivery is delivered, at any attempt', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 200, max: 299 }),
        (n, status) => {
          expect(nextStep(n, { kind: 'answered', status }, DELAYS_MS, Math.random)).toEqual({
            kind: 'delivered',
          });
        },
      ),
    );
  });

  test('after a failure the delay is the planned one ±20 %', () => {
    fc.assert(
      fc.property(attempt, failure, chance, (n, outcome, random) => {
        const step = nextStep(n, outcome, DELAYS_MS, () => random);
        const planned = DELAYS_MS[n - 1] ?? Number.NaN;
        if (step.kind !== 'retry') throw new Error(`expected a retry, got ${step.kind}`);
        expect(step.delayMs).toBeGreaterThanOrEqual(Math.floor(planned * 0.8));
        expect(step.delayMs).toBeLessThanOrEqual(Math.ceil(planned * 1.2));
      }),
    );
  });

  test('with Retry-After the delay is at least as long as asked for, up to 24 h', () => {
    fc.assert(
      fc.property(
        attempt,
        refusal,
        chance,
        fc.integer({ min: 0, max: 100 * HOUR_MS }),
        (n, status, random, retryAfterMs) => {
          const step = nextStep(
            n,
            { kind: 'answered', status, retryAfterMs },
            DELAYS_MS,
            () => random,
          );
          if (step.kind !== 'retry') throw new Error(`expected a retry, got ${step.kind}`);
          expect(step.delayMs).toBeGreaterThanOrEqual(Math.min(retryAfterMs, 24 * HOUR_MS));
          expect(step.delayMs).toBeLessThanOrEqual(24 * HOUR_MS * 1.2);
        },
      ),
    );
  });

  test('after the last attempt the delivery is dead', () => {
    fc.assert(
      fc.property(failure, chance, (outcome, random) => {
        const step = nextStep(DELAYS_MS.length + 1, outcome, DELAYS_MS, () => random);
        expect(step).toEqual({ kind: 'dead', reason: 'attempts_exhausted' });
      }),
    );
  });

  test('on 410 the destination is disabled', () => {
    expect(nextStep(1, { kind: 'answered', status: 410 }, DELAYS_MS, Math.random).kind).toBe(
      'disable',
    );
  });

  test('on a redirect the delivery is retried', () => {
    expect(nextStep(1, { kind: 'answered', status: 302 }, DELAYS_MS, Math.random).kind).toBe(
      'retry',
    );
  });
});
