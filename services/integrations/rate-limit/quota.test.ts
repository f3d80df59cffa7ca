import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BLOCK_VALID_MS, type Quota, takeFromQuota } from './quota.ts';

/** A quota of which nothing is taken. */
const WHOLE: Quota = { wholeInMs: 0, perRequestMs: null, blocks: {} };

/** Three replicas of a gateway that admit requests of one key, each with requests that it holds. */
class Replicas {
  readonly admittedAtMs: number[] = [];
  nowMs = 0;
  #quota: Quota = WHOLE;
  #takenAtMs = 0;
  #replicas = [0, 1, 2].map((id) => ({ id: `${id}`, held: 0, validUntilMs: 0, returned: 0 }));
  readonly limit: { requests: number; windowMs: number };

  constructor(limit: { requests: number; windowMs: number }) {
    this.limit = limit;
  }

  /** So many requests come to a replica at once. */
  arrive(index: number, count: number, ahead: number): void {
    const replica = this.#replicas[index];
    if (replica === undefined) return;
    if (this.nowMs >= replica.validUntilMs) {
      replica.returned += replica.held;
      replica.held = 0;
    }
    const waiting = Math.max(0, count - replica.held);
    const atOnce = count - waiting;
    replica.held -= atOnce;
    const demand = { replicaId: replica.id, waiting, ahead, ...replica };
    const elapsedMs = this.nowMs - this.#takenAtMs;
    const taken = takeFromQuota(this.#quota, elapsedMs, this.limit, demand);
    this.#quota = taken.quota;
    this.#takenAtMs = this.nowMs;
    const admitted = Math.min(waiting, taken.granted);
    replica.held += taken.granted - admitted;
    replica.validUntilMs = this.nowMs + BLOCK_VALID_MS;
    replica.returned = 0;
    this.admittedAtMs.push(...Array(atOnce + admitted).fill(this.nowMs));
  }

  /** The process dies with what it holds, and another one takes its place. */
  die(index: number): void {
    const id = `${index} after ${this.nowMs}`;
    this.#replicas[index] = { id, held: 0, validUntilMs: 0, returned: 0 };
  }

  /** The most requests by which any interval exceeds what one GCRA admits in it. */
  excess(): number {
    const { requests, windowMs } = this.limit;
    const times = this.admittedAtMs;
    let most = Number.NEGATIVE_INFINITY;
    for (const [first, startMs] of times.entries()) {
      for (let last = first; last < times.length; last += 1) {
        const regained = (((times[last] ?? 0) - startMs) * requests) / windowMs;
        most = Math.max(most, last - first + 1 - requests - regained);
      }
    }
    return most;
  }
}

const limits = fc.record({
  requests: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 11, max: 200 })),
  windowMs: fc.constantFrom(1_000, 7_000, 60_000, 3_600_000),
});
const indexes = fc.nat({ max: 2 });
/** A part of the window passes, then requests arrive, or a process dies. */
const steps = fc.array(
  fc.record({
    passes: fc.constantFrom(0, 0, 0.01, 0.1, 0.5, 1.5),
    index: indexes,
    arrive: fc.nat({ max: 60 }),
    ahead: fc.nat({ max: 10 }),
    dies: fc.nat({ max: 9 }),
  }),
  { maxLength: 25 },
);

test('three replicas that hold requests and die admit in no interval more than one GCRA', () => {
  fc.assert(
    fc.property(limits, steps, (limit, taken) => {
      const replicas = new Replicas(limit);
      for (const { passes, index, arrive, ahead, dies } of taken) {
        replicas.nowMs += passes * limit.windowMs;
        if (dies === 0) replicas.die(index);
        replicas.arrive(index, arrive, ahead);
      }
      expect(replicas.excess()).toBeLessThan(0.01);
    }),
    { numRuns: 2_000 },
  );
});

test('without requests held for later, each request is decided as by the textbook form of GCRA', () => {
  const gaps = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { maxLength: 100 });
  fc.assert(
    fc.property(limits, gaps, ({ requests, windowMs }, gapsInEmissions) => {
      const emissionMs = windowMs / requests;
      const toleranceMs = windowMs - emissionMs;
      let [nowMs, arrivalMs] = [0, 0];
      let [kept, keptAtMs]: [Quota, number] = [WHOLE, 0];
      for (const gap of gapsInEmissions) {
        nowMs += gap * emissionMs;
        // Within rounding of the border, both decisions are right.
        const early = arrivalMs - nowMs - toleranceMs;
        const demand = { replicaId: 'a', waiting: 1, ahead: 0, held: 0, returned: 0 };
        const limit = { requests, windowMs };
        const { quota, granted } = takeFromQuota(kept, nowMs - keptAtMs, limit, demand);
        if (Math.abs(early) > emissionMs * 1e-5) expect(granted).toBe(early > 0 ? 0 : 1);
        [kept, keptAtMs] = [quota, nowMs];
        if (granted === 1) arrivalMs = Math.max(nowMs, arrivalMs) + emissionMs;
      }
    }),
    { numRuns: 1_000 },
  );
});

test('under constant demand, three replicas admit at least nine tenths of the limit in every window', () => {
  fc.assert(
    fc.property(limits, fc.array(indexes, { minLength: 1, maxLength: 20 }), (limit, order) => {
      const replicas = new Replicas(limit);
      const { requests, windowMs } = limit;
      const ahead = Math.floor(requests / 20);
      for (let step = 0; step < 200; step += 1) {
        replicas.arrive(order[step % order.length] ?? 0, Math.ceil(requests / 10), ahead);
        replicas.nowMs += windowMs / 40;
      }
      for (let window = 0; window < 4; window += 1) {
        const within = (ms: number) => ms >= window * windowMs && ms < (window + 1) * windowMs;
        const admitted = replicas.admittedAtMs.filter(within).length;
        expect(admitted).toBeGreaterThanOrEqual(Math.floor(0.9 * requests));
      }
    }),
    { numRuns: 200 },
  );
});

test('all replicas together hold at most a tenth of the limit, and none of them all of that', () => {
  let [quota, granted] = [WHOLE, 0];
  const held = ['a', 'b', 'c', 'd'].map((replicaId) => {
    const demand = { replicaId, waiting: 0, ahead: 1_000, held: 0, returned: 0 };
    const limit = { requests: 1_000, windowMs: 1_000 };
    ({ quota, granted } = takeFromQuota(quota, 0, limit, demand));
    return granted;
  });
  expect(held).toEqual([50, 25, 12, 6]);
});

test('requests that come back are left for others, also those of a limit of a day', () => {
  const limit = { requests: 1_000, windowMs: 86_400_000 };
  const demand = { replicaId: 'a', waiting: 0, ahead: 50, held: 0, returned: 0 };
  const first = takeFromQuota(WHOLE, 0, limit, demand);
  expect(first.granted).toBe(50);
  const later = { ...demand, waiting: 1_000, ahead: 0, returned: 50 };
  expect(takeFromQuota(first.quota, BLOCK_VALID_MS, limit, later).granted).toBe(1_000);
});

test.each([
  { what: 'a clock that was set back regains nothing', elapsedMs: -3_600_000, requests: 10 },
  { what: 'a smaller limit applies at once', elapsedMs: 0, requests: 5 },
])('$what, and the next window is a usual one', ({ elapsedMs, requests }) => {
  const demand = { replicaId: 'a', waiting: 20, ahead: 0, held: 0, returned: 0 };
  const used = takeFromQuota(WHOLE, 0, { requests: 10, windowMs: 1_000 }, demand);
  const limit = { requests, windowMs: 1_000 };
  const now = takeFromQuota(used.quota, elapsedMs, limit, demand);
  expect([used.granted, now.granted]).toEqual([10, 0]);
  expect(takeFromQuota(now.quota, 1_000, limit, demand).granted).toBe(requests);
});

test.each([
  { change: 'raised', from: [5, 3_600_000], used: 5, to: [1_000, 3_600_000], left: 995 },
  { change: 'lowered', from: [1_000, 3_600_000], used: 4, to: [10, 10_000], left: 6 },
  {
    change: 'lowered below what was used',
    from: [1_000, 3_600_000],
    used: 900,
    to: [10, 10_000],
    left: 0,
  },
  {
    change: 'replaced by one of a shorter window',
    from: [5, 10_000],
    used: 5,
    to: [10_000, 1_000],
    left: 9_995,
  },
] as const)(
  'of a limit that is $change, as many requests are used as before',
  ({ from, used, to, left }) => {
    const demand = { replicaId: 'a', waiting: used, ahead: 0, held: 0, returned: 0 };
    const limitOf = ([requests, windowMs]: readonly [number, number]) => ({ requests, windowMs });
    const before = takeFromQuota(WHOLE, 0, limitOf(from), demand);
    const after = takeFromQuota(before.quota, 0, limitOf(to), { ...demand, waiting: 20_000 });
    expect([before.granted, after.granted]).toEqual([used, left]);
    expect(after.quota.wholeInMs).toBeCloseTo(to[1]);
  },
);

test('a block that another replica holds of an earlier limit takes nothing of the new one', () => {
  const demand = { replicaId: 'a', waiting: 1, ahead: 1_000, held: 0, returned: 0 };
  const large = { requests: 10_000, windowMs: 1_000 };
  const held = takeFromQuota(WHOLE, 0, large, demand);
  expect(held.granted).toBe(501);
  const other = { ...demand, replicaId: 'b', waiting: 20, ahead: 0 };
  const small = { requests: 10, windowMs: 10_000 };
  const taken = takeFromQuota(held.quota, 0, small, other);
  expect(taken.granted).toBe(9);
  // The first one gives up its block, of which the quota knows nothing any more.
  const givenUp = takeFromQuota(taken.quota, 1_000, small, { ...demand, ahead: 0, returned: 500 });
  expect(givenUp.granted).toBe(1);
});
