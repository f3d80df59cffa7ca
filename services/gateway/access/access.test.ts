import { digestApiKey, generateApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

/** Nothing in the cache expires during a test, also on a busy machine. */
const CACHE_MS = 60_000;

const gateway = await startTestGateway();
afterAll(gateway.close);
beforeEach(() => {
  gateway.services.calls.length = 0;
  gateway.services.failures.clear();
});

const identities = (method: string) =>
  gateway.services.called(method).map(({ call }) => call.identity);
/** The body of an answer without its request id, the only part in which equal answers may differ. */
const bare = ({ json }: { json: object }) => ({ ...json, requestId: '' });

describe('the key', () => {
  const read = (authorization?: string) =>
    gateway.send('GET', gateway.decisionPath, {
      key: '',
      headers: authorization === undefined ? {} : { authorization },
    });

  test('is accepted after "Bearer" in upper or lower case, and without it', async () => {
    for (const value of [`Bearer ${gateway.key}`, `bearer  ${gateway.key}`, gateway.key]) {
      expect((await read(value)).status).toBe(200);
    }
  });

  test.each([undefined, '', 'Bearer', 'bearer '])(
    'when missing is 401 with a challenge (%j)',
    async (authorization) => {
      const answer = await read(authorization);
      expect(answer.status).toBe(401);
      expect(answer.json).toMatchObject({ status: 401, code: 'key_missing' });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="creditlane"');
    },
  );

  test('when malformed is 401 without a call', async () => {
    const typo = gateway.key.slice(0, -1) + (gateway.key.endsWith('a') ? 'b' : 'a');
    for (const value of [typo, 'Bearer x', 'Basic dXNlcjpwYXNz', `${gateway.key} ${gateway.key}`]) {
      const answer = await read(value);
      expect(answer.status).toBe(401);
      expect(answer.json.code).toBe('key_rejected');
      expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"$/);
    }
    expect(gateway.services.calls).toEqual([]);
  });

  test('when unknown or revoked is 401', async () => {
    expect((await read(generateApiKey(true))).json.code).toBe('key_rejected');
    const key = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration);
    expect((await read(key)).status).toBe(200);
    gateway.services.keys.delete(digestApiKey(key).toString('hex'));
    expect((await read(key)).json.code).toBe('key_rejected');
  });

  test('of the other kind is 401, for integrations and for the platform', async () => {
    const onIntegration = await gateway.send('GET', gateway.decisionPath, {
      key: gateway.platformKey,
    });
    expect(onIntegration.status).toBe(401);
    expect(onIntegration.json.code).toBe('key_kind_not_accepted');
    const onPlatform = await gateway.send('PUT', `/v1/platform/creditors/${newId()}`, {
      body: { name: 'First Prairie Finance' },
    });
    expect(onPlatform.status).toBe(401);
    expect(onPlatform.json.code).toBe('key_kind_not_accepted');
  });

  test('of the platform without the permission is 403', async () => {
    const key = gateway.services.issue(Caller.PLATFORM, newId(), ['MANAGE_INTEGRATIONS']);
    const answer = await gateway.send('PUT', `/v1/platform/creditors/${newId()}`, {
      key,
      body: { name: 'First Prairie Finance' },
    });
    expect(answer.status).toBe(403);
    expect(answer.json.code).toBe('permission_missing');
  });

  test('when missing is 401 even if the body is not JSON', async () => {
    const answer = await gateway.send('POST', gateway.decisionPath, { key: '', body: '{' });
    expect(answer.status).toBe(401);
  });

  test('never reaches the log', async () => {
    await read(gateway.key);
    await read('Bearer cl_live_notakey');
    const log = gateway.lines.join('');
    expect(log).toContain('"operation":"getDecision"');
    expect(log).not.toContain(gateway.key);
    expect(log).not.toContain('notakey');
  });
});

describe('grants', () => {
  test('a granted creditor is the scope of a decision call', async () => {
    await gateway.send('GET', gateway.decisionPath);
    expect(identities('getDecision')).toEqual([
      {
        kind: 'integration',
        subject: gateway.ids.integration,
        permissions: [],
        creditorId: gateway.ids.creditor,
      },
    ]);
  });

  test("a grant on the application's retailer opens a decision for reading, not for writing", async () => {
    const id = newId();
    const key = gateway.services.issue(Caller.INTEGRATION, id);
    gateway.services.grants.add(`${id} ${gateway.ids.retailer}`);
    expect((await gateway.send('GET', gateway.decisionPath, { key })).status).toBe(200);
    expect(identities('getDecision')).toMatchObject([{ retailerId: gateway.ids.retailer }]);
    const body = { applicationId: gateway.ids.application, decision: 'BOOKED' };
    const written = await gateway.send('POST', gateway.decisionPath, { key, body });
    expect(written.status).toBe(400);
    expect(written.json.code).toBe('submission_not_found');
  });

  test('a foreign record and a missing one get the same answer by the same calls', async () => {
    const attempts = [
      ['GET', '/decision', 400, undefined],
      ['POST', '/decision', 400, { decision: 'BOOKED' }],
      ['GET', '/decisions', 404, undefined],
    ] as const;
    for (const [method, end, status, body] of attempts) {
      const seen = [];
      for (const [application, creditor] of [
        [gateway.ids.otherApplication, gateway.ids.otherCreditor],
        [newId(), newId()],
      ]) {
        gateway.services.calls.length = 0;
        const path = `/v1/applications/${application}/creditors/${creditor}${end}`;
        const answer = await gateway.send(method, path, {
          ...(body && { body: { ...body, applicationId: application } }),
        });
        expect(answer.status).toBe(status);
        seen.push([bare(answer), gateway.services.calls.map((it) => it.method)]);
      }
      expect(seen[0]).toEqual(seen[1]);
    }
  });

  test('an application of another tenant cannot be read, submitted, or created', async () => {
    const { otherApplication, otherRetailer } = gateway.ids;
    const foreign = await gateway.send('GET', `/v1/applications/${otherApplication}`);
    const missing = await gateway.send('GET', `/v1/applications/${newId()}`);
    expect(foreign.status).toBe(404);
    expect(bare(foreign)).toEqual(bare(missing));
    const applicant = { firstName: 'Maya', lastName: 'Tremblay', dateOfBirth: '1988-07-14' };
    const made = await gateway.send('POST', '/v1/applications', {
      body: { retailerId: otherRetailer, type: 'APPROVAL', primaryApplicant: applicant },
    });
    expect(made.status).toBe(404);
    expect(identities('createApplication')[0]).not.toHaveProperty('retailerId');
  });
});

describe('X-Service-Retailer-ID', () => {
  const read = (retailerId: string, path = gateway.decisionPath) =>
    gateway.send('GET', path, { headers: { 'X-Service-Retailer-ID': retailerId } });

  test("is accepted when it names the application's granted retailer", async () => {
    expect((await read(gateway.ids.retailer)).status).toBe(200);
    expect((await read(gateway.ids.retailer.toUpperCase())).status).toBe(200);
  });

  test('that is no UUID is 400, naming the header', async () => {
    const answer = await read('harbour-motors');
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([
      { in: 'header', pointer: '/X-Service-Retailer-ID', message: 'must be a UUID' },
    ]);
  });

  test("gives access to the applications of its group, in the scope of each application's retailer", async () => {
    const [id, sibling] = [newId(), newId()];
    const key = gateway.services.issue(Caller.INTEGRATION, id);
    const group = [gateway.ids.retailer, sibling];
    gateway.services.groups.push(group);
    const path = `/v1/applications/${gateway.ids.application}`;
    const call = (retailerId: string) =>
      gateway.send('GET', path, { key, headers: { 'X-Service-Retailer-ID': retailerId } });
    expect((await call(sibling)).status).toBe(404);
    gateway.services.grants.add(`${id} ${sibling}`);
    expect((await call(sibling)).status).toBe(200);
    expect(identities('getApplication').at(-1)).toMatchObject({
      retailerId: gateway.ids.retailer,
      retailerContext: sibling,
    });
    // A grant for another retailer of the group counts only if the header names that retailer.
    expect((await call(gateway.ids.retailer)).status).toBe(404);
    expect((await gateway.send('GET', path, { key })).status).toBe(404);
    // For a decision the grant for the header's retailer is necessary, but does not replace the creditor's.
    const decided = { key, headers: { 'X-Service-Retailer-ID': sibling } };
    const written = await gateway.send('POST', gateway.decisionPath, {
      ...decided,
      body: { applicationId: gateway.ids.application, decision: 'BOOKED' },
    });
    expect(written.json.code).toBe('submission_not_found');
    gateway.services.groups.splice(gateway.services.groups.indexOf(group), 1);
    expect((await call(sibling)).status).toBe(404);
  });

  test('that is not granted, or not of the application’s group, makes the record not found', async () => {
    const second = newId();
    gateway.services.grants.add(`${gateway.ids.integration} ${second}`);
    for (const retailerId of [gateway.ids.otherRetailer, newId(), second]) {
      const answer = await read(retailerId);
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe('submission_not_found');
      expect(identities('getDecision').at(-1)).not.toHaveProperty('creditorId');
      const application = await read(retailerId, `/v1/applications/${gateway.ids.application}`);
      expect(application.status).toBe(404);
    }
  });
});

describe('an operation that requires a retailer', () => {
  const PATHS = ['/v1/users', '/v1/applications'] as const;
  const METHODS = { '/v1/users': 'listUsers', '/v1/applications': 'listApplications' };
  const newCaller = (...retailerIds: string[]) => {
    const id = newId();
    for (const retailerId of retailerIds) {
      gateway.services.retailers.set(retailerId, 'Harbour Trucks');
      gateway.services.grants.add(`${id} ${retailerId}`);
    }
    return gateway.services.issue(Caller.INTEGRATION, id);
  };

  test.each(PATHS)(
    '%s is about the only granted retailer when no header names one',
    async (path) => {
      expect((await gateway.send('GET', path)).status).toBe(200);
      expect(identities(METHODS[path])).toMatchObject([{ retailerId: gateway.ids.retailer }]);
    },
  );

  test.each(PATHS)(
    '%s without the header is 400 for several granted retailers and for none',
    async (path) => {
      for (const key of [newCaller(newId(), newId()), newCaller()]) {
        const answer = await gateway.send('GET', path, { key });
        expect(answer.status).toBe(400);
        expect(answer.json).toMatchObject({
          code: 'retailer_required',
          errors: [{ in: 'header', pointer: '/X-Service-Retailer-ID' }],
        });
      }
      expect(gateway.services.called(METHODS[path])).toEqual([]);
    },
  );

  test.each(PATHS)('%s is about the granted retailer that the header names', async (path) => {
    const [first, second] = [newId(), newId()];
    const key = newCaller(first, second);
    const headers = { 'X-Service-Retailer-ID': second.toUpperCase() };
    expect((await gateway.send('GET', path, { key, headers })).status).toBe(200);
    expect(identities(METHODS[path])).toMatchObject([{ retailerId: second }]);
  });

  test.each(PATHS)(
    '%s of a retailer that is not granted gets the answer of an unknown one, by the same calls',
    async (path) => {
      const seen = [];
      for (const retailerId of [gateway.ids.otherRetailer, newId()]) {
        gateway.services.calls.length = 0;
        const headers = { 'X-Service-Retailer-ID': retailerId };
        const answer = await gateway.send('GET', path, { headers });
        expect(answer.status).toBe(path === '/v1/users' ? 400 : 404);
        expect(answer.json.code).toBe('retailer_not_found');
        seen.push([bare(answer), gateway.services.calls.map((it) => it.method)]);
      }
      expect(seen[0]).toEqual(seen[1]);
    },
  );

  test('has its retailer looked up once while the lookup is cached', async () => {
    const cached = await startTestGateway({ accessCacheMs: CACHE_MS });
    try {
      for (const path of PATHS) await cached.send('GET', path);
      expect(cached.services.called('listGrants')).toHaveLength(1);
    } finally {
      await cached.close();
    }
  });
});

describe('the cache of keys and grants', () => {
  test('concurrent requests and those after them share one lookup', async () => {
    const cached = await startTestGateway({ accessCacheMs: CACHE_MS });
    try {
      const read = () => cached.send('GET', cached.decisionPath);
      await Promise.all([read(), read(), read()]);
      await read();
      expect(cached.services.called('authenticate')).toHaveLength(1);
      expect(cached.services.called('checkGrants')).toHaveLength(1);
    } finally {
      await cached.close();
    }
  });

  test('a shared lookup has five seconds, also when its first request has less left', async () => {
    const cached = await startTestGateway({ accessCacheMs: CACHE_MS, deadlineMs: 4_000 });
    try {
      const beforeMs = Date.now();
      await cached.send('GET', cached.decisionPath);
      const [lookup, check, read] = ['authenticate', 'checkGrants', 'getDecision'].map(
        (method) => (cached.services.called(method)[0]?.call.deadlineMs ?? 0) - beforeMs,
      );
      expect(lookup).toBeGreaterThanOrEqual(5_000);
      expect(check).toBeGreaterThanOrEqual(5_000);
      expect(read).toBeGreaterThan(0);
      // The read has what is left of its request's time, which ends before that of the lookup, however late they begin.
      expect(read).toBeLessThan(lookup ?? 0);
    } finally {
      await cached.close();
    }
  });

  test('a revoked key is refused once the cache expires', async () => {
    const cached = await startTestGateway({ accessCacheMs: 200 });
    try {
      const read = () => cached.send('GET', cached.decisionPath);
      expect((await read()).status).toBe(200);
      cached.services.keys.delete(digestApiKey(cached.key).toString('hex'));
      await expect.poll(async () => (await read()).status).toBe(401);
    } finally {
      await cached.close();
    }
  });

  test("a creditor's grant is looked up once for its decisions on several applications", async () => {
    const cached = await startTestGateway({ accessCacheMs: CACHE_MS });
    try {
      const { application, creditor } = cached.ids;
      for (const applicationId of [application, newId(), newId()]) {
        await cached.send(
          'POST',
          `/v1/applications/${applicationId}/creditors/${creditor}/decision`,
          {
            body: { applicationId, decision: 'BOOKED' },
          },
        );
      }
      expect(cached.services.called('recordDecision')).toHaveLength(3);
      expect(cached.services.called('checkGrants')).toHaveLength(1);
    } finally {
      await cached.close();
    }
  });

  test('a failed lookup is not cached', async () => {
    const cached = await startTestGateway({ accessCacheMs: CACHE_MS });
    try {
      cached.services.failures.set('authenticate', () => new Error('out of order'));
      expect((await cached.send('GET', cached.decisionPath)).status).toBe(500);
      cached.services.failures.clear();
      expect((await cached.send('GET', cached.decisionPath)).status).toBe(200);
    } finally {
      await cached.close();
    }
  });
});
