import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

/** A body that is wrong in one way, and the field that the refusal has to name. */
const BAD_DECISIONS: [string, Record<string, unknown>, string][] = [
  ['no decision', {}, '/decision'],
  ['an unknown decision', { decision: 'MAYBE' }, '/decision'],
  ['AWAITING_DECISION', { decision: 'AWAITING_DECISION' }, '/decision'],
  ['DRAFT', { decision: 'DRAFT' }, '/decision'],
  ['a number where a word belongs', { decision: 1 }, '/decision'],
  [
    'a date that no calendar has',
    { decision: 'APPROVED', firstPaymentDate: '2026-02-30' },
    '/firstPaymentDate',
  ],
  [
    'a date with a time',
    { decision: 'APPROVED', deliveryDate: '2026-02-03T00:00:00Z' },
    '/deliveryDate',
  ],
  ['a number as a string', { decision: 'APPROVED', interestRate: '6.5' }, '/interestRate'],
  [
    'an unknown frequency',
    { decision: 'APPROVED', paymentFrequency: 'BI-WEEKLY' },
    '/paymentFrequency',
  ],
  ['half a month', { decision: 'APPROVED', term: 60.5 }, '/term'],
  ['an unknown province', { decision: 'APPROVED', taxProvince: 'ZZ' }, '/taxProvince'],
  ['null for a number', { decision: 'APPROVED', salePrice: null }, '/salePrice'],
  [
    'another application in the body',
    { decision: 'APPROVED', applicationId: randomUUID() },
    '/applicationId',
  ],
];

let world: TestPlatform;
beforeAll(async () => {
  world = await startTestPlatform();
});
afterAll(() => world.close());

describe('bad input is refused, named, and leaves no trace', () => {
  const post = (body: unknown, headers?: Record<string, string>) =>
    world.api.post(decisionPath(world.demo), body, headers ? { headers } : {});

  test.each(BAD_DECISIONS)('%s', async (_, fields, pointer) => {
    const answer = await post({ applicationId: world.demo.applicationId, ...fields });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ status: 400, code: expect.any(String) });
    expect(answer.body.requestId).toBe(answer.headers.get('x-request-id'));
    expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
      pointer,
    );
    expect(answer.body.message).toContain(pointer.slice(1));
  });

  test.each([
    ['no JSON at all', 'decision=APPROVED'],
    ['half a document', '{"decision":'],
    ['an array', '[]'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('%s is 400', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).not.toBe('');
  });

  test('a body over 1 MiB is 413', async () => {
    const answer = await post({ decision: 'APPROVED', conditions: 'x'.repeat(1024 * 1024) });
    expect(answer.status).toBe(413);
  });

  test('another content type is 415', async () => {
    const answer = await post('decision=APPROVED', {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(answer.status).toBe(415);
  });

  test.each([
    ['mapQueryResult', 'an application that does not exist', { applicationId: randomUUID() }],
    ['writing', 'an application that does not exist', { applicationId: randomUUID() }],
    ['mapQueryResult', 'an application id that is no uuid', { applicationId: 'A-17' }],
    ['writing', 'an application id that is no uuid', { applicationId: 'A-17' }],
    ['mapQueryResult', 'a creditor that does not exist', { creditorId: randomUUID() }],
    ['writing', 'a creditor id that is no uuid', { creditorId: '17' }],
  ] as const)('%s for %s is 400', async (how, _, wrong) => {
    const at = { ...world.demo, ...wrong };
    const body = { applicationId: at.applicationId, decision: 'APPROVED' };
    const answer = await (how === 'mapQueryResult'
      ? world.api.get(decisionPath(at))
      : world.api.post(decisionPath(at), body));
    expect(answer.status).toBe(400);
    expect(answer.body.status).toBe(400);
  });

  test('afterwards the decision is what it was, and no webhook was sent', async () => {
    await world.settle();
    const history = await world.api.get(`${decisionPath(world.demo)}s`);
    expect(history.body.data).toHaveLength(1);
    expect(await world.inbox.arrivals()).toEqual([]);
  });
});

describe('a request without a good key is 401', () => {
  test.each([
    ['no key', null],
    ['an empty key', ''],
    ['a made-up key', 'secret'],
    ['a key whose checksum is right but that nobody issued', 'unknown'],
  ] as const)('%s', async (_, key) => {
    const answer = await world.api.get(decisionPath(world.demo), {
      key: key === 'unknown' ? world.unknownKey() : key,
    });
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ status: 401, message: expect.any(String) });
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test('a revoked key opens nothing within five seconds', async () => {
    const { key, revoke } = await world.issueKey();
    expect((await world.api.get(decisionPath(world.demo), { key })).status).toBe(200);
    await revoke();
    await eventually(
      'refusal of the revoked key',
      async () => {
        const { status } = await world.api.get(decisionPath(world.demo), { key });
        return status === 401 ? true : undefined;
      },
      5_500,
    );
  });

  test('the platform’s key does not open the integrations’ operations, nor theirs the platform’s', async () => {
    const { keys, integrationId } = world.demo;
    const asPlatform = await world.api.get(decisionPath(world.demo), { key: keys.platform });
    expect(asPlatform.status).toBe(401);
    const asIntegration = await world.api.post(`/platform/integrations/${integrationId}/keys`, {});
    expect(asIntegration.status).toBe(401);
  });
});

describe('what the interface does not have', () => {
  test('an unknown route is 404', async () => {
    const answer = await world.api.get('/no-such-thing');
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({ status: 404, requestId: expect.any(String) });
  });

  test('a known route with another method is 405 and says which are allowed', async () => {
    const answer = await world.api.call('DELETE', decisionPath(world.demo));
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toMatch(/GET.*POST/);
  });

  test('a page cannot be asked for by a cursor that never was', async () => {
    const answer = await world.api.get(`${decisionPath(world.demo)}s?cursor=abc`);
    expect(answer.status).toBe(400);
    expect(answer.body.code).toBe('invalid_cursor');
    expect(answer.body.errors).toMatchObject([{ in: 'query', pointer: '/cursor' }]);
  });

  test('errors come as RFC 9457 to those who ask for it', async () => {
    const answer = await world.api.get('/no-such-thing', {
      headers: { accept: 'application/problem+json' },
    });
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status: 404, title: expect.any(String) });
  });

  test('a request id is echoed, and made where there is none', async () => {
    const mine = await world.api.get('/no-such-thing', { headers: { 'x-request-id': 'mine-1' } });
    expect(mine.headers.get('x-request-id')).toBe('mine-1');
    const made = await world.api.get('/no-such-thing');
    expect(made.headers.get('x-request-id')).toMatch(/.{16,}/);
  });
});
