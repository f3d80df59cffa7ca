// Reads whose answers may be large wait for each other, and nobody else's request does.
import { setTimeout as delay } from 'node:timers/promises';
import { digestApiKey } from '@creditlane/crypto/api-key';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { LargeReads } from '../middleware/large-reads.ts';
import { startTestGateway } from '../test-gateway.ts';

const READS_AT_ONCE = 4;

const CACHE_MS = 200;

const gateway = await startTestGateway({ accessCacheMs: CACHE_MS });
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.services.calls.length = 0;
});

const conversation = gateway.decisionPath.replace(/decision$/, 'conversation');
const read = (path = conversation, key?: string) => gateway.send('GET', path, { key });
const calls = () => gateway.services.called('getConversation').length;

/** Resolves once so many requests have been admitted. */
const untilUnderWay = (count: number) =>
  expect
    .poll(() => gateway.process.metrics.text())
    .toMatch(new RegExp(`^creditlane_http_requests_under_way ${count}$`, 'm'));

/** Holds back the calls of the method until the returned function is called. */
function holdBack(count: number): () => void {
  const release = Promise.withResolvers<void>();
  const gates = Array.from({ length: count }, () => () => release.promise);
  gateway.services.gates.getConversation.push(...gates);
  return release.resolve;
}

test('reads that begin while two others end run four at once, whatever the moment', async () => {
  // At most so many steps of promises lie between the end of a read and the removal of its queue.
  for (let steps = 0; steps < 10; steps += 1) {
    const reads = new LargeReads();
    const [ended, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let running = 0;
    const begun: Promise<void>[] = [];
    const begin = () => {
      const read = () => {
        running += 1;
        return later.promise;
      };
      for (let n = 0; n < READS_AT_ONCE; n += 1) begun.push(reads.run('caller', read));
    };
    const beginAfter = async () => {
      await ended.promise;
      for (let step = 0; step < steps; step += 1) await undefined;
      begin();
    };
    // The first read ends, the new ones begin, and the second read ends, step by step.
    const first = reads.run('caller', () => ended.promise);
    const beginning = beginAfter();
    const second = reads.run('caller', () => ended.promise);
    ended.resolve();
    await Promise.all([first, beginning, second]);
    begin();
    expect(running).toBe(READS_AT_ONCE);
    later.resolve();
    await Promise.all(begun);
  }
});

describe('of the large reads of a caller', () => {
  test('four are under way at once, and the others wait for their turn', async () => {
    const release = holdBack(10);
    const answers = Array.from({ length: 10 }, () => read());
    await untilUnderWay(10);
    await expect.poll(calls).toBe(READS_AT_ONCE);
    await delay(20);
    expect(calls()).toBe(READS_AT_ONCE);
    release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  test('one that has waited is refused when its key was revoked meanwhile', async () => {
    const key = gateway.services.issueGranted(gateway.ids.creditor);
    const release = holdBack(READS_AT_ONCE);
    const first = Array.from({ length: READS_AT_ONCE }, () => read(conversation, key));
    await expect.poll(calls).toBe(READS_AT_ONCE);
    const waiting = read(conversation, key);
    const digest = digestApiKey(key).toString('hex');
    await untilUnderWay(READS_AT_ONCE + 1);
    gateway.services.keys.delete(digest);
    await delay(CACHE_MS + 200);
    release();
    expect((await waiting).status).toBe(401);
    await Promise.all(first);
    expect(calls()).toBe(READS_AT_ONCE);
  });

  test('none delays another caller, nor the caller’s other requests', async () => {
    const other = gateway.services.issueGranted(gateway.ids.creditor);
    const release = holdBack(READS_AT_ONCE);
    const answers = Array.from({ length: 10 }, () => read());
    await expect.poll(calls).toBe(READS_AT_ONCE);
    expect((await read(conversation, other)).status).toBe(200);
    expect((await read(gateway.decisionPath)).status).toBe(200);
    release();
    await Promise.all(answers);
  });
});

describe('HEAD of a list', () => {
  test.each([
    { path: '/v1/users', method: 'listUsers' },
    { path: '/v1/applications', method: 'listApplications' },
    { path: '/v1/retailers', method: 'listGrants' },
    { path: conversation, method: 'getConversation' },
    { path: `${gateway.decisionPath}s`, method: 'listDecisions' },
  ])('$path reads one record, and tells no length', async ({ path, method }) => {
    const answer = await gateway.send('HEAD', `${path}?limit=100`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.has('content-length')).toBe(false);
    expect(gateway.services.called(method).at(-1)?.request).toMatchObject({ limit: 1 });
  });

  test('is refused like GET', async () => {
    expect((await gateway.send('HEAD', `${conversation}?limit=101`)).status).toBe(400);
    expect((await gateway.send('HEAD', conversation, { key: '' })).status).toBe(401);
  });
});
