import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Demand, type RateLimit, RequestBlock, type TakenRequests } from './request-block.ts';
import { createTestQuotas } from './test-quotas.ts';

const TEN = { requests: 10, windowMs: 1_000 };
const USED_UP = { granted: 0, wholeInMs: TEN.windowMs, validMs: 50_000 };
const LARGE = { requests: 10_000, windowMs: 1_000 };

/** A quota on a clock that the test moves, and blocks of it, each on a clock that may be skewed. */
function openQuota(limit: RateLimit) {
  const clock = { nowMs: 5_000_000 };
  const takeFromQuota = createTestQuotas(() => clock.nowMs);
  const service = { isAway: false, calls: [] as Demand[] };
  const ask = async ({ requests, windowMs }: RateLimit, demand: Demand) => {
    service.calls.push(demand);
    if (service.isAway) throw new Error('away');
    return takeFromQuota({ keyId: 'key', limit: requests, windowMs, ...demand });
  };
  const openBlock = (skewMs = 0) => {
    const block = new RequestBlock(limit, () => clock.nowMs + skewMs);
    const take = (presentLimit = limit) => block.take(presentLimit, ask);
    /** How many of so many requests at once are admitted. */
    const burst = async (count: number) =>
      (await Promise.all(Array.from({ length: count }, () => take()))).filter(Boolean).length;
    return { block, take, burst };
  };
  return { clock, service, openBlock };
}

/** Lets a call that a block began by itself end. */
const endCalls = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('one replica', () => {
  test('admits the whole quota at once, then what is regained, and never more than the whole', async () => {
    const { clock, openBlock } = openQuota(TEN);
    const { burst } = openBlock();
    expect(await burst(20)).toBe(10);
    expect(await burst(20)).toBe(0);
    clock.nowMs += 500;
    expect(await burst(20)).toBe(5);
    clock.nowMs += 60_000;
    expect(await burst(20)).toBe(10);
  });

  test('does not take an error of its own for an integrations service that is away', async () => {
    const { clock } = openQuota(TEN);
    const block = new RequestBlock(TEN, () => clock.nowMs);
    const broken = {
      ...USED_UP,
      get granted(): number {
        throw new TypeError('broken');
      },
    };
    await expect(block.take(TEN, async () => broken)).rejects.toThrow('broken');
  });

  test('forgets a refusal once the limit is raised', async () => {
    const aDay = { requests: 1, windowMs: 86_400_000 };
    const { clock, openBlock } = openQuota(aDay);
    const { take } = openBlock();
    expect([await take(), await take()]).toEqual([true, false]);
    clock.nowMs += TEN.windowMs;
    expect([await take(), await take(TEN)]).toEqual([false, true]);
  });

  test('gives back what it holds of an earlier limit, and asks for the new one', async () => {
    const { service, openBlock } = openQuota(LARGE);
    const { block, take } = openBlock();
    await take();
    expect(await take(TEN)).toBe(true);
    const [first, second] = service.calls;
    expect(second).toMatchObject({ held: 0, returned: first?.ahead });
    expect(block.left().requests).toBeLessThan(TEN.requests);
  });

  test('asks again when the limit has changed before the answer', async () => {
    const aDay = { requests: 1, windowMs: 86_400_000 };
    const block = new RequestBlock(aDay, () => 0);
    const asked: RateLimit[] = [];
    const answer = Promise.withResolvers<TakenRequests>();
    const ask = async (limit: RateLimit, { waiting }: Demand) => {
      asked.push(limit);
      return asked.length === 1 ? answer.promise : { ...USED_UP, granted: waiting };
    };
    const before = block.take(aDay, ask);
    await endCalls();
    const after = block.take(TEN, ask);
    answer.resolve({ ...USED_UP, wholeInMs: aDay.windowMs });
    expect(await Promise.all([before, after])).toEqual([true, true]);
    expect(asked).toEqual([aDay, TEN]);
  });

  test('admits the whole of a large quota at once in few calls', async () => {
    const { service, openBlock } = openQuota(LARGE);
    expect(await openBlock().burst(12_000)).toBe(10_000);
    expect(service.calls.length).toBeLessThan(5);
  });

  test('calls the service once for many requests, and no request waits for a call', async () => {
    const { clock, service, openBlock } = openQuota(LARGE);
    const { take } = openBlock();
    expect(await take()).toBe(true);
    await endCalls();
    for (const everyMs of [1, 10, 100]) {
      for (let count = 0; count < 1_000; count += 1) {
        clock.nowMs += everyMs;
        expect(take()).toBe(true);
        for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      }
    }
    expect(service.calls.length).toBeLessThan(3_000 / 20);
  });

  test('calls the service again only after the time in which a block is regained', async () => {
    const { clock, service, openBlock } = openQuota(LARGE);
    const { burst, take } = openBlock();
    await burst(12_000);
    const calls = service.calls.length;
    clock.nowMs += 49;
    expect(take()).toBe(false);
    expect(service.calls).toHaveLength(calls);
    clock.nowMs += 1;
    expect(await take()).toBe(true);
  });

  test('gives back what it held for longer than it may', async () => {
    const { clock, service, openBlock } = openQuota({ requests: 1_000, windowMs: 86_400_000 });
    const { burst, take } = openBlock();
    await burst(100);
    await endCalls();
    clock.nowMs += 60_000;
    await take();
    const [last] = service.calls.slice(-1);
    const held = service.calls.slice(0, -1).reduce((sum, { ahead }) => sum + ahead, 0);
    expect(last).toMatchObject({ held: 0 });
    expect(last?.returned).toBeGreaterThan(0);
    expect(last?.returned).toBeLessThanOrEqual(held);
  });

  test('tells what is left and after how long the quota is whole', async () => {
    const { clock, openBlock } = openQuota(LARGE);
    const { block, burst } = openBlock();
    await burst(1_000);
    expect(block.left()).toEqual({ requests: 9_000, wholeInMs: expect.closeTo(100, 6) });
    clock.nowMs += 40;
    expect(block.left()).toEqual({ requests: 9_400, wholeInMs: expect.closeTo(60, 6) });
    await burst(20_000);
    expect(block.left()).toEqual({ requests: 0, wholeInMs: expect.closeTo(1_000, 6) });
  });
});

test('three replicas whose clocks differ by hours admit the quota between them', async () => {
  const { clock, openBlock } = openQuota({ requests: 100, windowMs: 10_000 });
  const replicas = [openBlock(), openBlock(3_600_000), openBlock(-3_600_000)];
  const burst = async () => {
    const admitted = await Promise.all(replicas.map((replica) => replica.burst(60)));
    return admitted.reduce((sum, count) => sum + count, 0);
  };
  const first = await burst();
  expect(first).toBeGreaterThanOrEqual(90);
  expect(first).toBeLessThanOrEqual(100);
  clock.nowMs += 5_000;
  const both = first + (await burst());
  expect(both).toBeGreaterThanOrEqual(140);
  expect(both).toBeLessThanOrEqual(150);
});

describe('while the service is away', () => {
  test('a replica admits a twentieth at once and a tenth in each window, without waiting', async () => {
    const { clock, service, openBlock } = openQuota(LARGE);
    const { block, burst, take } = openBlock();
    service.isAway = true;
    expect(await burst(2_000)).toBe(500);
    let admitted = 0;
    for (let ms = 0; ms < 10_000; ms += 10) {
      clock.nowMs += 10;
      for (let count = 0; count < 50; count += 1) if (take() === true) admitted += 1;
      if (ms % 1_000 === 0) await endCalls();
    }
    expect(admitted).toBeGreaterThan(9_000);
    expect(admitted).toBeLessThanOrEqual(10_000);
    while (take() === true);
    expect(block.admitsInMs()).toBeUndefined();
    expect(service.calls.length).toBeLessThanOrEqual(12);
  });

  test('a replica goes on refusing what the service had refused', async () => {
    const { clock, service, openBlock } = openQuota({ requests: 2, windowMs: 60_000 });
    const { block, burst } = openBlock();
    expect(await burst(3)).toBe(2);
    service.isAway = true;
    clock.nowMs += 29_000;
    expect(await burst(3)).toBe(0);
    expect(block.admitsInMs()).toBe(1_000);
    clock.nowMs += 1_000;
    expect(await burst(3)).toBe(1);
  });

  test('a replica asks again each second, and then admits the quota as before', async () => {
    const { clock, service, openBlock } = openQuota(TEN);
    const { burst } = openBlock();
    service.isAway = true;
    expect(await burst(5)).toBe(1);
    service.isAway = false;
    expect(await burst(5)).toBe(0);
    clock.nowMs += 1_000;
    await burst(1);
    await endCalls();
    expect(await burst(20)).toBe(10);
  });
});
