import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  asGateway,
  asPlatform,
  authenticate,
  PLATFORM_KEY,
  registerTestIntegration,
  useIntegrations,
} from '../test-integrations.ts';

const fixture = useIntegrations();
const HOUR_MS = 3_600_000;
const replicas = [randomUUID(), randomUUID(), randomUUID()] as const;

let keyId: string;
beforeEach(() => {
  keyId = randomUUID();
});

/** Takes from a quota of 100 requests an hour, so that none is regained during a test. */
const take = (demand: object = {}, replicaId: string = replicas[0], call: object = {}) =>
  fixture.access.takeRequests(
    { keyId, replicaId, limit: 100, windowMs: HOUR_MS, waiting: 1, ...demand },
    { ...asGateway, ...call },
  );
const passTime = (interval: string) =>
  fixture.sql.query('UPDATE rate_limits SET taken_at = taken_at - $2::interval WHERE key_id = $1', [
    keyId,
    interval,
  ]);

describe('a quota', () => {
  test('gives concurrent calls of three replicas exactly its requests', async () => {
    await take({ waiting: 75 });
    const calls = Array.from({ length: 40 }, (_, n) => take({}, replicas[n % 3]));
    const granted = (await Promise.all(calls)).filter((answer) => answer.granted === 1);
    expect(granted).toHaveLength(25);
    expect((await take()).granted).toBe(0);
  });

  test('tells after how long it is whole, and is regained by the clock of the database', async () => {
    expect((await take({ waiting: 101 })).granted).toBe(100);
    const used = await take();
    expect(used.granted).toBe(0);
    expect(used.wholeInMs).toBeGreaterThan(HOUR_MS - 10_000);
    expect(used.wholeInMs).toBeLessThanOrEqual(HOUR_MS);
    await passTime('15 minutes');
    expect((await take({ waiting: 100 })).granted).toBe(25);
    await passTime('2 days');
    expect((await take({ waiting: 200 })).granted).toBe(100);
  });

  test('keeps what was used of it when the limit changes', async () => {
    expect((await take({ waiting: 5 })).granted).toBe(5);
    const lower = { limit: 10, windowMs: 600_000 };
    expect((await take({ ...lower, waiting: 10 })).granted).toBe(5);
    expect((await take({ waiting: 100 })).granted).toBe(90);
  });

  test('is read by the present limit after an earlier version has taken from it', async () => {
    await take({ waiting: 5 });
    // As the version before writes it: 50 requests are used, each regained in 36 s.
    const write = `UPDATE rate_limits SET whole_in_ms = 50 * 36000, taken_at = now(), blocks = '{}'
       WHERE key_id = $1`;
    await take({ limit: 10, windowMs: 600_000 });
    await fixture.sql.query(write, [keyId]);
    expect((await take({ waiting: 100 })).granted).toBe(50);
  });

  test('is not taken from by a call that ended while it waited for the row', async () => {
    await take();
    const holder = await fixture.sql.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM rate_limits WHERE key_id = $1 FOR UPDATE', [keyId]);
      const late = take({ waiting: 60 }, replicas[1], { deadlineMs: Date.now() + 300 });
      await expect(late).rejects.toMatchObject({ kind: 'deadline' });
    } finally {
      await holder.query('ROLLBACK');
      holder.release();
    }
    expect((await take({ waiting: 100 })).granted).toBe(99);
  });

  test('of one key is not touched by another key’s', async () => {
    await take({ waiting: 100 });
    expect((await take({ keyId: randomUUID() })).granted).toBe(1);
  });

  test('is regained after a clock that was a day ahead is set right', async () => {
    await take({ waiting: 100 });
    await passTime('-1 day');
    expect((await take()).granted).toBe(0);
    await passTime('1 hour');
    expect((await take({ waiting: 100 })).granted).toBe(100);
  });

  test('is without what a replica died with for an hour, and no longer', async () => {
    expect(await take({ waiting: 0, ahead: 5 })).toMatchObject({ granted: 5, validMs: 50_000 });
    await passTime('59 minutes');
    expect((await take({ waiting: 100 }, replicas[1])).granted).toBe(95);
    await passTime('1 hour');
    expect((await take({ waiting: 100 }, replicas[1])).granted).toBe(100);
  });

  test('is a row until its key has asked for nothing for two days', async () => {
    const { purgeRateLimits } = await import('../store/rate-limits.ts');
    const count = async () => {
      await purgeRateLimits.run(fixture.sql);
      const { rowCount } = await fixture.sql.query('SELECT FROM rate_limits WHERE key_id = $1', [
        keyId,
      ]);
      return rowCount;
    };
    await take();
    await passTime('47 hours');
    expect(await count()).toBe(1);
    await passTime('2 hours');
    expect(await count()).toBe(0);
  });
});

describe('the keys of an integration', () => {
  test('have an id each and the limit of the integration, until that is taken away', async () => {
    const integrationId = await registerTestIntegration(fixture);
    const change = (rateLimit?: { requests: number; windowSeconds: number }) =>
      fixture.integrations.changeIntegration(
        { integrationId, name: 'DealerDesk', ...(rateLimit && { rateLimit }) },
        asPlatform,
      );
    const issue = () => fixture.integrations.issueKey({ integrationId }, asPlatform);
    const [first, second] = [await issue(), await issue()];
    await change({ requests: 600, windowSeconds: 60 });
    for (const { key, keyId } of [first, second]) {
      const rateLimit = { requests: 600, windowSeconds: 60 };
      expect(await authenticate(fixture, key)).toMatchObject({ keyId, rateLimit });
    }
    await change();
    expect((await authenticate(fixture, first.key)).rateLimit).toBeUndefined();
  });

  test.each([
    { requests: 0, windowSeconds: 60 },
    { requests: 10_000_001, windowSeconds: 60 },
    { requests: 10, windowSeconds: 0 },
    { requests: 10, windowSeconds: 86_401 },
  ])('cannot have the limit $requests in $windowSeconds s', async (rateLimit) => {
    const request = { name: 'DealerDesk', rateLimit };
    await expect(
      fixture.integrations.registerIntegration(request, asPlatform),
    ).rejects.toMatchObject({ kind: 'invalid' });
  });
});

test('a key of the platform has an id and no limit of its own', async () => {
  const { callerId, keyId, rateLimit } = await authenticate(fixture, PLATFORM_KEY);
  expect(keyId).toBe(callerId);
  expect(rateLimit).toBeUndefined();
});
