import { invalid } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
const { ids, services, send } = gateway;
afterAll(() => gateway.close());
beforeEach(() => {
  services.calls.length = 0;
  services.failures.clear();
  services.users.length = 0;
});

const get = (path: string) => send('GET', `/v1${path}`);
const requests = (method: string) => services.called(method).map(({ request }) => request);

const LISTS = ['/users', '/applications', '/retailers', '/creditors'];

describe('a list', () => {
  test.each(LISTS)(
    '%s has 25 records on a page unless the request says otherwise',
    async (path) => {
      const method = { '/users': 'listUsers', '/applications': 'listApplications' }[path];
      await get(path);
      await get(`${path}?limit=100&cursor=abc`);
      expect(
        requests(method ?? 'listGrants').filter((it) => 'limit' in it && it.limit !== 2),
      ).toMatchObject([
        { limit: 25, cursor: '' },
        { limit: 100, cursor: 'abc' },
      ]);
    },
  );

  test('a parameter with U+0000, which no database could search for, is refused and named', async () => {
    const answer = await get('/applications?referenceNumber=a%00b');
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      message: '/referenceNumber in the query must not contain U+0000',
      errors: [{ in: 'query', pointer: '/referenceNumber' }],
    });
  });

  test.each(LISTS)('%s refuses a limit or cursor out of bounds', async (path) => {
    for (const [query, name] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=ten', 'limit'],
      ['cursor=', 'cursor'],
      [`cursor=${'a'.repeat(501)}`, 'cursor'],
    ]) {
      const answer = await get(`${path}?${query}`);
      expect(answer.status, query).toBe(400);
      expect(answer.json.errors).toMatchObject([{ in: 'query', pointer: `/${name}` }]);
    }
  });

  test.each(LISTS)('%s refuses a parameter that it does not have', async (path) => {
    const answer = await get(`${path}?curser=abc&limit=2`);
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('invalid_request');
    expect(answer.json.message).toMatch(
      /^\/curser in the query is unknown: the query parameters of this operation are .*limit, cursor$/,
    );
    expect(answer.json.errors).toMatchObject([{ in: 'query', pointer: '/curser' }]);
  });

  test.each([
    ['/users', 'listUsers'],
    ['/applications', 'listApplications'],
    ['/retailers', 'listGrants'],
    ['/creditors', 'listGrants'],
  ])('%s names a cursor that the service refuses as a parameter', async (path, method) => {
    const fields = [{ pointer: '/cursor', message: 'must be a nextCursor' }];
    const headers = { 'X-Service-Retailer-ID': ids.retailer };
    services.failures.set(method, () => invalid('invalid_cursor', 'x', fields));
    const answer = await send('GET', `/v1${path}?cursor=abc`, { headers });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'invalid_cursor',
      errors: [{ in: 'query', pointer: '/cursor', message: 'must be a nextCursor' }],
    });
  });
});

describe('a query parameter that no list has', () => {
  test('is refused by operations that have none, whatever their method', async () => {
    for (const [method, body] of [
      ['GET', undefined],
      ['HEAD', undefined],
      ['POST', gateway.decision()],
    ] as const) {
      const answer = await send(method, `${gateway.decisionPath}?verbose=1`, { body });
      expect(answer.status, method).toBe(400);
      if (method === 'HEAD') continue;
      expect(answer.json.message).toBe(
        '/verbose in the query is unknown: this operation has no query parameters',
      );
    }
    expect(requests('recordDecision')).toEqual([]);
  });

  test('is named beside those with wrong values, and a long name is cut off', async () => {
    const name = 'x'.repeat(5_000);
    const answer = await get(`/users?limit=0&__proto__=1&a/b=1&${name}=1`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([
      { in: 'query', pointer: '/__proto__' },
      { in: 'query', pointer: '/a~1b' },
      { in: 'query', pointer: `/${'x'.repeat(50)}` },
      { in: 'query', pointer: '/limit', message: 'must be at least 1' },
    ]);
  });
});

describe('the list of users', () => {
  test('has every field, also those that are false or empty', async () => {
    const user = {
      userId: newId(),
      firstName: 'Noor',
      lastName: '',
      email: 'noor@harbour.example',
      active: false,
      retailerIds: [ids.retailer],
      retailerGroupIds: [],
    };
    services.users.push(user);
    const answer = await get('/users');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ data: [user], nextCursor: null });
  });

  test('is filtered by whether users are active', async () => {
    await get('/users');
    await get('/users?active=true');
    await get('/users?active=false');
    expect(requests('listUsers').map((it) => 'active' in it && it.active)).toEqual([
      false,
      true,
      false,
    ]);
    expect(requests('listUsers').map((it) => Object.hasOwn(it, 'active'))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test.each(['yes', '1', ''])('refuses active=%s', async (value) => {
    const answer = await get(`/users?active=${value}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ in: 'query', pointer: '/active' }]);
  });
});

describe('the list of applications', () => {
  test('has each application without its applicants', async () => {
    const answer = await get('/applications?limit=1');
    expect(answer.status).toBe(200);
    expect(answer.json.nextCursor).toBe('next');
    const [application] = answer.json.data;
    expect(application).toMatchObject({ applicationId: ids.application, submissions: [] });
    expect(Object.keys(application)).not.toContain('primaryApplicant');
  });

  test('is filtered by status and reference number', async () => {
    await get('/applications?status=ARCHIVED&referenceNumber=DEAL%2042');
    expect(requests('listApplications')).toMatchObject([{ status: 5, referenceNumber: 'DEAL 42' }]);
  });

  test.each([
    ['status=archived', 'status'],
    ['status=', 'status'],
    ['referenceNumber=', 'referenceNumber'],
    [`referenceNumber=${'a'.repeat(101)}`, 'referenceNumber'],
  ])('refuses %s', async (query, name) => {
    const answer = await get(`/applications?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toMatchObject([{ in: 'query', pointer: `/${name}` }]);
  });
});

describe('the lists of retailers and creditors', () => {
  const grantedAt = '2026-02-01T09:00:00.000Z';

  test('have what is granted to the caller, with names, by calls in the name of the gateway', async () => {
    const retailers = await get('/retailers');
    expect(retailers.json).toEqual({
      data: [{ retailerId: ids.retailer, name: 'Harbour Motors', grantedAt }],
      nextCursor: null,
    });
    const creditors = await get('/creditors');
    expect(creditors.json).toEqual({
      data: [
        { creditorId: ids.creditor, name: 'First Prairie Finance', disabled: true, grantedAt },
      ],
      nextCursor: null,
    });
    expect(requests('listGrants')).toMatchObject([
      { integrationId: ids.integration, side: 1 },
      { integrationId: ids.integration, side: 2 },
    ]);
    for (const method of ['listGrants', 'getRetailers', 'getCreditors']) {
      for (const { call } of services.called(method)) expect(call.identity.kind).toBe('service');
    }
  });

  test('are 401 for a platform key', async () => {
    for (const path of LISTS) {
      const answer = await send('GET', `/v1${path}`, { key: gateway.platformKey });
      expect([answer.status, answer.json.code]).toEqual([401, 'key_kind_not_accepted']);
    }
  });
});
