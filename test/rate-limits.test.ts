// The rate limit of a key holds over all replicas of the gateway.
import { pickOne, seededRandom } from '@creditlane/runtime/test-seeded-random';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type GatewayReplica,
  type GatewayReplicas,
  startGatewayReplicas,
} from './platform/gateway-replicas.ts';

/** Refused for its parameter, after it was admitted: without a call of another service. */
const ADMITTED = { path: '/users?limit=0', status: 400 };

let gateways: GatewayReplicas;
beforeAll(async () => {
  gateways = await startGatewayReplicas(3);
});
afterAll(() => gateways.close());

interface Sent {
  status: number;
  sentMs: number;
  answeredMs: number;
}

async function sendTo(replica: GatewayReplica, key: string): Promise<Sent> {
  const sentMs = performance.now();
  const answer = await replica.send(key, ADMITTED.path);
  await answer.text();
  return { status: answer.status, sentMs, answeredMs: performance.now() };
}

/**
 * Sends on twelve connections to replicas at random: at least `count` requests, until the time has passed and
 * `refused` requests were refused.
 */
async function flood(
  key: string,
  { count = 0, lastsMs = 0, refused = 0, seed = 1, to = gateways.replicas },
): Promise<Sent[]> {
  const endMs = performance.now() + lastsMs;
  const random = seededRandom(seed);
  const sent: Sent[] = [];
  const isEnough = () =>
    sent.length >= count && performance.now() >= endMs && refusedOf(sent).length >= refused;
  const send = async () => {
    while (!isEnough()) {
      sent.push(await sendTo(pickOne(random, to), key));
    }
  };
  await Promise.all(Array.from({ length: 12 }, send));
  return sent;
}

/**
 * A flood with a new key, during which no call for its quota failed: on a busy machine a replica may not hear within a second how
 * many requests it has, and answers 503. Resolves to the third flood in any case.
 */
async function floodWithoutStall(
  rateLimit: { requests: number; windowSeconds: number },
  load: Parameters<typeof flood>[1],
): Promise<Sent[]> {
  for (let left = 2; ; left -= 1) {
    const key = await gateways.issueKey(rateLimit);
    const failedBefore = await takesOf(gateways, 'failed');
    const sent = await flood(key, load);
    if (left === 0 || (await takesOf(gateways, 'failed')) === failedBefore) return sent;
  }
}

const admittedOf = (sent: readonly Sent[]) =>
  sent.filter(({ status }) => status === ADMITTED.status);

const refusedOf = (sent: readonly Sent[]) => sent.filter(({ status }) => status === 429);

/** The largest part of a limit that was admitted in any interval, of what one replica would admit in it. */
function largestShare(sent: readonly Sent[], requests: number, windowMs: number): number {
  const admitted = admittedOf(sent);
  const shares = admitted.map(({ sentMs: startMs }) => {
    const ends = admitted.filter((it) => it.sentMs >= startMs).map((it) => it.answeredMs);
    const counts = ends
      .toSorted((a, b) => a - b)
      .map((endMs, index) => ({ endMs, count: index + 1 }));
    return counts.map(
      ({ endMs, count }) => count / (requests * (1 + (endMs - startMs) / windowMs)),
    );
  });
  return Math.max(...shares.flat());
}

describe.each([2, 3])('%d replicas', (count) => {
  test.each([
    { requests: 40, windowSeconds: 1, load: { lastsMs: 1_300, refused: 1 } },
    { requests: 200, windowSeconds: 60, load: { count: 300 } },
  ])(
    'under random load admit $requests requests in $windowSeconds s: at least 0.9 and at most 1.05 of them',
    async ({ requests, windowSeconds, load }) => {
      const windowMs = windowSeconds * 1_000;
      const to = gateways.replicas.slice(0, count);
      const sent = await floodWithoutStall(
        { requests, windowSeconds },
        { ...load, seed: count, to },
      );
      expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([ADMITTED.status, 429]));
      expect(largestShare(sent, requests, windowMs)).toBeLessThanOrEqual(1.05);
      // Nothing is left of the quota at the first refusal, nor at the last.
      const refused = refusedOf(sent);
      const usedUpMs = (refused.at(-1)?.sentMs ?? 0) - (refused[0]?.answeredMs ?? 0);
      const expected = requests * (1 + Math.max(0, usedUpMs) / windowMs);
      expect(admittedOf(sent).length).toBeGreaterThanOrEqual(0.9 * expected);
    },
  );
});

test('a replica that ends with requests that it holds leaves the others at least 0.9 of the limit', async () => {
  const key = await gateways.issueKey({ requests: 200, windowSeconds: 600 });
  const others = [...gateways.replicas];
  const ending = await gateways.startReplica();
  const before = [await sendTo(ending, key), await sendTo(ending, key)];
  await ending.close();
  const sent = [...before, ...(await flood(key, { count: 250, to: others }))];
  expect(admittedOf(sent).length).toBeGreaterThanOrEqual(180);
  expect(largestShare(sent, 200, 600_000)).toBeLessThanOrEqual(1.05);
});

test('two replicas refuse the key that is above its integration’s limit, and no other key', async () => {
  const [one, two] = gateways.replicas as [GatewayReplica, GatewayReplica];
  const limited = await gateways.issueKey({ requests: 3, windowSeconds: 60 });
  const other = await gateways.issueKey();
  for (const replica of [one, two, one]) {
    const answer = await replica.send(limited, ADMITTED.path);
    expect(answer.status).toBe(ADMITTED.status);
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=3;w=60');
  }
  for (const replica of [one, two]) {
    const headers = { accept: 'application/problem+json' };
    const answer = await replica.send(limited, ADMITTED.path, { headers });
    expect(answer.status).toBe(429);
    expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=0;t=(60|5\d)$/);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(10);
    expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(20);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    expect(await answer.json()).toMatchObject({ status: 429, code: 'rate_limited' });
    const others = await replica.send(other, ADMITTED.path);
    expect(others.status).toBe(ADMITTED.status);
    expect(others.headers.get('ratelimit-policy')).toBe('"default";q=10000;w=1');
  }
});

test('three replicas write to the database once for twenty requests at most', async () => {
  const key = await gateways.issueKey();
  const before = await takesOf(gateways);
  const sent = await flood(key, { count: 600 });
  expect(admittedOf(sent)).toHaveLength(sent.length);
  expect((await takesOf(gateways)) - before).toBeLessThanOrEqual(sent.length / 20);
});

test('replicas admit a part of the limit while quotas cannot be written, and all of it later', async () => {
  const key = await gateways.issueKey({ requests: 100, windowSeconds: 600 });
  const to = gateways.replicas.slice(0, 2) as [GatewayReplica, GatewayReplica];
  expect((await sendTo(to[0], key)).status).toBe(ADMITTED.status);
  const locked = await gateways.sql.connect();
  try {
    await locked.query('BEGIN; LOCK TABLE rate_limits');
    const sent = await flood(key, { lastsMs: 1_500, to });
    // What the first replica held, and a twentieth of the limit at each replica.
    expect(admittedOf(sent).length).toBeGreaterThanOrEqual(10);
    expect(admittedOf(sent).length).toBeLessThanOrEqual(15);
    const answerOfFirst = async () => {
      const { status, headers } = await to[0].send(key, ADMITTED.path);
      return [status, headers.get('retry-after')];
    };
    await expect.poll(answerOfFirst, { timeout: 10_000 }).toEqual([503, '1']);
  } finally {
    await locked.query('ROLLBACK');
    locked.release();
  }
  let admitted = 0;
  const floodAgain = async () => {
    admitted += admittedOf(await flood(key, { count: 50, to })).length;
    return admitted;
  };
  await expect.poll(floodAgain, { timeout: 10_000 }).toBeGreaterThan(80);
});

async function takesOf({ replicas }: GatewayReplicas, outcome?: string): Promise<number> {
  const takes = await Promise.all(replicas.map((replica) => replica.takes(outcome)));
  return takes.reduce((sum, count) => sum + count, 0);
}
