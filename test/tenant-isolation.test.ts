import { randomUUID } from 'node:crypto';
import { makeSubmission } from '@creditlane/local/demo';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

describe('a second tenant sees nothing', () => {
  let world: TestPlatform;
  beforeAll(async () => {
    world = await startTestPlatform();
  });
  afterAll(() => world.close());

  /** What a foreign record and one that never was have to have in common. */
  const shape = ({ status, body, headers }: Answer) => ({
    status,
    headers: [...headers.keys()].filter((name) => !name.startsWith('ratelimit')),
    body: { ...body, requestId: '', message: body.message.replaceAll(/[0-9a-f-]{36}/g, 'ID') },
  });

  const OPERATIONS = [
    [
      'mapQueryResult a decision',
      (at: Ids, key: string) => world.api.get(decisionPath(at), { key }),
    ],
    [
      'the decision history',
      (at: Ids, key: string) => world.api.get(`${decisionPath(at)}s`, { key }),
    ],
    [
      'writing a decision',
      (at: Ids, key: string) =>
        world.api.post(
          decisionPath(at),
          { applicationId: at.applicationId, decision: 'DECLINED' },
          { key },
        ),
    ],
    [
      'mapQueryResult an application',
      (at: Ids, key: string) => world.api.get(`/applications/${at.applicationId}`, { key }),
    ],
    [
      'submitting an application',
      (at: Ids, key: string) =>
        world.api.post(`/applications/${at.applicationId}/submit`, makeSubmission(at), { key }),
    ],
  ] as const;

  test.each(OPERATIONS)(
    '%s: a foreign record looks exactly like one that does not exist',
    async (_, call) => {
      const { key } = world.demo.otherTenant;
      const foreign = await call(world.demo, key);
      const unknown = await call(
        { ...world.demo, applicationId: randomUUID(), creditorId: randomUUID() },
        key,
      );
      expect(foreign.status).toBeGreaterThanOrEqual(400);
      expect(shape(foreign)).toEqual(shape(unknown));
    },
  );

  test('the same holds for one’s own creditor with a foreign application', async () => {
    const { key, creditorId } = world.demo.otherTenant;
    const foreign = { applicationId: world.demo.applicationId, creditorId };
    const unknown = { applicationId: randomUUID(), creditorId };
    for (const [, call] of OPERATIONS.slice(0, 3)) {
      const [a, b] = [
        await call({ ...world.demo, ...foreign }, key),
        await call({ ...world.demo, ...unknown }, key),
      ];
      expect(a.status).toBeGreaterThanOrEqual(400);
      expect(shape(a)).toEqual(shape(b));
    }
  });

  test('nothing was written and no webhook was sent', async () => {
    await world.settle();
    const read = await world.api.get(decisionPath(world.demo));
    expect(read.body.decision).toBe('AWAITING_DECISION');
    expect(await world.inbox.arrivals()).toEqual([]);
  });

  test('each tenant reaches its own', async () => {
    const { key, ...other } = world.demo.otherTenant;
    expect((await world.api.get(decisionPath(other), { key })).body.decision).toBe(
      'AWAITING_DECISION',
    );
    expect((await world.api.get(`/applications/${other.applicationId}`, { key })).status).toBe(200);
    expect((await world.api.get(decisionPath(other))).status).toBe(400);
  });

  test('a foreign retailer context is refused like an unknown one', async () => {
    const call = (retailerId: string) =>
      world.api.get(`/applications/${world.demo.applicationId}`, {
        headers: { 'x-service-retailer-id': retailerId },
      });
    expect(shape(await call(world.demo.otherTenant.retailerId))).toEqual(
      shape(await call(randomUUID())),
    );
    expect((await call(world.demo.retailerId)).status).toBe(200);
  });

  test('a retailer context opens what is its group’s, and nothing once it leaves the group', async () => {
    const platform = { key: world.demo.keys.platform };
    const put = (path: string, body?: object) =>
      world.api.call('PUT', `/platform${path}`, { ...platform, body });
    const { retailerId, integrationId } = world.demo;
    const [retailerGroupId, sibling] = [randomUUID(), randomUUID()];
    await put(`/retailer-groups/${retailerGroupId}`, { name: 'Harbour Auto Group' });
    await put(`/retailers/${retailerId}`, { name: 'Harbour Motors', retailerGroupId });
    await put(`/retailers/${sibling}`, { name: 'Harbour Trucks', retailerGroupId });
    const call = async (path: string) => {
      const headers = { 'x-service-retailer-id': sibling };
      return (await world.api.get(path, { headers })).status;
    };
    const application = `/applications/${world.demo.applicationId}`;
    expect(await call(application)).toBe(404);

    await put(`/integrations/${integrationId}/retailers/${sibling}`);
    await eventually(
      'the grant',
      async () => (await call(application)) === 200 || undefined,
      5_500,
    );
    expect(await call(decisionPath(world.demo))).toBe(200);
    expect(await call(`/applications/${world.demo.otherTenant.applicationId}`)).toBe(404);

    await put(`/retailers/${sibling}`, { name: 'Harbour Trucks' });
    await eventually('the end', async () => (await call(application)) === 404 || undefined, 5_500);
  });
});

interface Ids {
  applicationId: string;
  applicantId: string;
  creditorId: string;
  retailerUserId: string;
}
