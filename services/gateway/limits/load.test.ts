import { describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

describe('rate limits', () => {
  test('are in the headers of every answer, and only a caller above its limit gets 429 with Retry-After', async () => {
    const limited = await startTestGateway({ rateLimit: { requests: 2, windowMs: 60_000 } });
    try {
      const read = (key = limited.key) => limited.send('GET', limited.decisionPath, { key });
      const [first, second, third] = [await read(), await read(), await read()];
      expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
      expect(first.headers.get('ratelimit')).toBe('"default";r=1;t=30');
      expect(second.status).toBe(200);
      expect(third.status).toBe(429);
      expect(third.json.code).toBe('rate_limited');
      expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(20);
      expect(third.headers.get('ratelimit')).toMatch(/^"default";r=0;t=(60|5\d)$/);
      expect((await read(limited.platformKey)).status).toBe(401);
    } finally {
      await limited.close();
    }
  });
});

describe('overload', () => {
  test('a request above the concurrency limit is 503, and a later request is served', async () => {
    const small = await startTestGateway({ maxUnderWay: 1 });
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    small.services.gates.getDecision.push(async () => {
      entered.resolve();
      await release.promise;
    });
    const read = () => small.send('GET', small.decisionPath);
    try {
      const first = read();
      await entered.promise;
      const second = await read();
      expect(second.status).toBe(503);
      expect(second.headers.get('retry-after')).toBe('1');
      expect(second.json.message).toBe('more requests are under way than are taken on at once');
      expect(await small.process.metrics.text()).toContain('creditlane_http_requests_under_way 1');
      release.resolve();
      expect((await first).status).toBe(200);
      expect((await read()).status).toBe(200);
      expect(await small.process.metrics.text()).toContain('creditlane_http_requests_under_way 0');
    } finally {
      release.resolve();
      await small.close();
    }
  });
});

describe('closing', () => {
  test('refuses new connections and lets requests under way finish', async () => {
    const closing = await startTestGateway();
    const entered = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { authenticate } = closing.services.gates;
    authenticate.push(async () => {
      entered.resolve();
      await release.promise;
    });
    const answer = closing.send('GET', closing.decisionPath);
    await entered.promise;
    const closed = closing.close();
    await expect(fetch(closing.url)).rejects.toThrow();
    release.resolve();
    expect((await answer).status).toBe(200);
    await closed;
  });
});
