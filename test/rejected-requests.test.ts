import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCESS_CHANGES_WITHIN_MS } from './platform/access-change.ts';
import { decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { openTestPlatform } from './platform/shared-platform.ts';
import type { TestPlatform } from './platform/test-platform.ts';

/** Decisions with one invalid field each, and the JSON pointer that the answer must contain. */
const INVALID_DECISIONS: { name: string; fields: Record<string, unknown>; pointer: string }[] = [
  { name: 'no decision', fields: {}, pointer: '/decision' },
  { name: 'an unknown decision', fields: { decision: 'MAYBE' }, pointer: '/decision' },
  { name: 'AWAITING_DECISION', fields: { decision: 'AWAITING_DECISION' }, pointer: '/decision' },
  { name: 'DRAFT', fields: { decision: 'DRAFT' }, pointer: '/decision' },
  { name: 'a number instead of a decision', fields: { decision: 1 }, pointer: '/decision' },
  {
    name: 'a date that does not exist',
    fields: { decision: 'APPROVED', firstPaymentDate: '2026-02-30' },
    pointer: '/firstPaymentDate',
  },
  {
    name: 'a date with a time',
    fields: { decision: 'APPROVED', deliveryDate: '2026-02-03T00:00:00Z' },
    pointer: '/deliveryDate',
  },
  {
    name: 'a number as a string',
    fields: { decision: 'APPROVED', interestRate: '6.5' },
    pointer: '/interestRate',
  },
  {
    name: 'an unknown frequency',
    fields: { decision: 'APPROVED', paymentFrequency: 'BI-WEEKLY' },
    pointer: '/paymentFrequency',
  },
  { name: 'half a month', fields: { decision: 'APPROVED', term: 60.5 }, pointer: '/term' },
  {
    name: 'an unknown province',
    fields: { decision: 'APPROVED', taxProvince: 'ZZ' },
    pointer: '/taxProvince',
  },
  {
    name: 'null instead of a decision',
    fields: { decision: null },
    pointer: '/decision',
  },
  {
    name: 'a misspelt figure',
    fields: { decision: 'APPROVED', interest_rate: 12.99 },
    pointer: '/interest_rate',
  },
  {
    name: 'a figure by its name in the worksheet',
    fields: { decision: 'APPROVED', frequency: 'WEEKLY' },
    pointer: '/frequency',
  },
  {
    name: 'another application in the body',
    fields: { decision: 'APPROVED', applicationId: randomUUID() },
    pointer: '/applicationId',
  },
];

let platform: TestPlatform;
beforeAll(async () => {
  platform = await openTestPlatform();
});
afterAll(() => platform.close());

describe('invalid input is refused and changes nothing', () => {
  const post = (body: unknown, headers?: Record<string, string>) =>
    platform.api.post(decisionPath(platform.demo), body, headers ? { headers } : {});

  test.each(INVALID_DECISIONS)(
    '$name is 400 and named as $pointer',
    async ({ fields, pointer }) => {
      const answer = await post({ applicationId: platform.demo.applicationId, ...fields });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ status: 400, code: expect.any(String) });
      expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
      expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
        pointer,
      );
      expect(answer.body.message).toContain(pointer.slice(1));
    },
  );

  test.each([
    { name: 'no JSON', body: 'decision=APPROVED' },
    { name: 'a truncated document', body: '{"decision":' },
    { name: 'an array', body: '[]' },
    { name: 'not UTF-8', body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) },
  ])('a body that is $name is 400', async ({ body }) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).not.toBe('');
  });

  test('a body over 1 MiB is 413', async () => {
    const answer = await post({ decision: 'APPROVED', conditions: 'x'.repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ status: 413, code: 'body_too_large' });
  });

  test('a content type other than JSON is 415', async () => {
    const answer = await post('decision=APPROVED', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(answer.status).toBe(415);
    expect(answer.body).toMatchObject({ status: 415, code: 'not_json' });
  });

  test.each([
    { host: 'localhost..', message: /without a final dot/ },
    { host: 'localhost.', message: /without a final dot/ },
    { host: '127.0.0.1.', message: /spell its host as it is looked up/ },
    { host: '127.1', message: /spell its host as it is looked up/ },
    { host: '%6cocalhost', message: /spell its host as it is looked up/ },
    { host: 'ｌｏｃａｌｈｏｓｔ', message: /spell its host as it is looked up/ },
  ])(
    'a destination at $host, another spelling of a permitted host, is 400',
    async ({ host, message }) => {
      const { demo } = platform;
      const { port } = new URL(demo.inboxUrl);
      const answer = await platform.api.call(
        'PUT',
        `/platform/integrations/${demo.integrationId}/destination`,
        { key: demo.keys.platform, body: { url: `http://${host}:${port}/other` } },
      );
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({
        code: 'invalid_destination',
        message: expect.stringMatching(message),
        errors: [{ pointer: '/url' }],
      });
    },
  );

  const UNKNOWN_APPLICATION = { applicationId: randomUUID() };
  test.each([
    { name: 'reading a decision on an application that does not exist', ids: UNKNOWN_APPLICATION },
    { name: 'reading with an application id that is no UUID', ids: { applicationId: 'A-17' } },
    { name: 'reading with a creditor that does not exist', ids: { creditorId: randomUUID() } },
  ])('$name is 400', async ({ ids }) => {
    const answer = await platform.api.get(decisionPath({ ...platform.demo, ...ids }));
    expect(answer.status).toBe(400);
    expect(answer.body.status).toBe(400);
  });

  test.each([
    {
      name: 'recording a decision on an application that does not exist',
      ids: UNKNOWN_APPLICATION,
    },
    { name: 'recording with an application id that is no UUID', ids: { applicationId: 'A-17' } },
    { name: 'recording with a creditor id that is no UUID', ids: { creditorId: '17' } },
  ])('$name is 400', async ({ ids }) => {
    const submission = { ...platform.demo, ...ids };
    const answer = await platform.recordDecision(submission, { decision: 'APPROVED' });
    expect(answer.status).toBe(400);
    expect(answer.body.status).toBe(400);
  });

  test('after all refused requests the decision is unchanged and no webhook was sent', async () => {
    await platform.settle();
    const history = await platform.api.get(`${decisionPath(platform.demo)}s`);
    expect(history.body.data).toHaveLength(1);
    expect(await platform.inbox.list()).toEqual([]);
  });
});

describe('a request without a valid key is 401', () => {
  test.each([
    { name: 'no key', makeKey: () => null },
    { name: 'an empty key', makeKey: () => '' },
    { name: 'a key in another format', makeKey: () => 'secret' },
    {
      name: 'a key with a correct checksum that was never issued',
      makeKey: () => platform.makeUnissuedKey(),
    },
  ])('$name is 401', async ({ makeKey }) => {
    const answer = await platform.api.get(decisionPath(platform.demo), { key: makeKey() });
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ status: 401, message: expect.any(String) });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test('a revoked key is refused within five seconds', async () => {
    const { key, revoke } = await platform.issueKey();
    expect((await platform.api.get(decisionPath(platform.demo), { key })).status).toBe(200);
    await revoke();
    await eventually(
      'refusal of the revoked key',
      async () => {
        const { status } = await platform.api.get(decisionPath(platform.demo), { key });
        return status === 401 ? true : undefined;
      },
      ACCESS_CHANGES_WITHIN_MS,
    );
  });

  test('the platform’s key is refused at the integrations’ operations, and theirs at the platform’s', async () => {
    const { keys, integrationId } = platform.demo;
    const asPlatform = await platform.api.get(decisionPath(platform.demo), { key: keys.platform });
    expect(asPlatform.status).toBe(401);
    const asIntegration = await platform.api.post(
      `/platform/integrations/${integrationId}/keys`,
      {},
    );
    expect(asIntegration.status).toBe(401);
  });
});

test('a request above the limit of its key is 429 with Retry-After, and other keys are answered', async () => {
  const asPlatform = async (path: string, body: object) => {
    const { keys } = platform.demo;
    return (await platform.api.post(`/platform/integrations${path}`, body, { key: keys.platform }))
      .body;
  };
  const rateLimit = { requests: 2, windowSeconds: 3_600 };
  const { integrationId } = await asPlatform('', { name: 'DealerDesk', rateLimit });
  const { key } = await asPlatform(`/${integrationId}/keys`, {});
  const read = () => platform.api.get('/creditors', { key });
  const answers = [await read(), await read(), await read()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers.map(({ headers }) => headers.get('ratelimit-policy'))).toEqual(
    Array(3).fill('"default";q=2;w=3600'),
  );
  const refused = answers.at(-1);
  expect(refused?.body).toMatchObject({ status: 429, code: 'rate_limited' });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(1_700);
  expect((await platform.api.get('/creditors')).status).toBe(200);
});

describe('requests that the API does not offer', () => {
  test('an unknown route is 404', async () => {
    const answer = await platform.api.get('/no-such-thing');
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ status: 404, requestId: expect.any(String) });
  });

  test('a method that a route does not have is 405 and Allow lists those it has', async () => {
    const answer = await platform.api.call('DELETE', decisionPath(platform.demo));
    expect(answer.status).toBe(405);
    expect(answer.body).toMatchObject({ status: 405, code: 'method_not_allowed' });
    expect(answer.headers.get('allow')).toMatch(/GET.*POST/);
  });

  test('a cursor that the API never returned is 400', async () => {
    const answer = await platform.api.get(`${decisionPath(platform.demo)}s?cursor=abc`);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid_cursor');
    expect(answer.body.errors).toMatchObject([{ in: 'query', pointer: '/cursor' }]);
  });

  test('a client that accepts application/problem+json gets errors in the format of RFC 9457', async () => {
    const answer = await platform.api.get('/no-such-thing', {
      headers: { accept: 'application/problem+json' },
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status: 404, title: expect.any(String) });
  });

  test('a request id is echoed; a request without one gets a new id', async () => {
    const given = await platform.api.get('/no-such-thing', {
      headers: { 'x-request-id': 'client-1' },
    });
    expect(given.headers.get('x-request-id')).toBe('client-1');
    const made = await platform.api.get('/no-such-thing');
    expect(made.headers.get('x-request-id')).toMatch(/.{16,}/);
  });
});
