// What an integration reads of the system of record: users, applications, retailers and creditors, page by page.
import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { LONG_COMMENT, readConversation, startConversation } from './platform/conversations.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ everywhere: { ACCESS_CACHE_TIME: '100ms' } });
});
afterAll(() => platform.close());

const put = (path: string, body?: object) =>
  platform.api.call('PUT', `/platform${path}`, { key: platform.demo.keys.platform, body });

/** The records of all pages of a list, with the number of pages. */
async function walk(path: string, limit: number, between: () => Promise<unknown> = async () => {}) {
  // biome-ignore lint/suspicious/noExplicitAny: records of every list.
  const records: any[] = [];
  let pages = 0;
  let cursor = '';
  for (;;) {
    const query = new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) });
    const { status, body } = await platform.api.get(
      `${path}${path.includes('?') ? '&' : '?'}${query}`,
    );
    expect(status).toBe(200);
    expect(body.data.length).toBeLessThanOrEqual(limit);
    records.push(...body.data);
    pages += 1;
    if (body.nextCursor === null) return { records, pages };
    cursor = body.nextCursor;
    await between();
  }
}

const createApplication = async (): Promise<string> => {
  const { body } = await platform.api.post(
    '/applications',
    makeApplication(platform.demo.retailerId),
  );
  return body.applicationId;
};

describe('applications', () => {
  test('are listed newest first, each once, while others are created', async () => {
    const before = (await walk('/applications', 100)).records.map((it) => it.applicationId);
    const created = [
      await createApplication(),
      await createApplication(),
      await createApplication(),
    ];
    const expected = [...created.toReversed(), ...before];
    for (const limit of [1, 2]) {
      const { records } = await walk('/applications', limit, createApplication);
      const ids = records.map((it) => it.applicationId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.slice(-expected.length)).toEqual(expected);
    }
  });

  test('are found by reference number, without the data of their applicants', async () => {
    const body = makeApplication(platform.demo.retailerId);
    const { body: created } = await platform.api.post('/applications', body);
    const path = `/applications?referenceNumber=${body.referenceNumber}`;
    const { applicationId, retailerId, type, status, referenceNumber, createdAt } = created;
    const summary = { applicationId, retailerId, type, status, referenceNumber, createdAt };
    const found = await platform.api.get(path);
    expect(found.body).toEqual({ data: [{ ...summary, submissions: [] }], nextCursor: null });
  });

  test('are filtered by status', async () => {
    const id = await createApplication();
    await platform.api.post(`/applications/${id}/archive`, undefined);
    const idsIn = async (status: string) =>
      (await walk(`/applications?status=${status}`, 100)).records.map((it) => it.applicationId);
    expect(await idsIn('ARCHIVED')).toContain(id);
    expect(await idsIn('SAVED')).not.toContain(id);
  });

  test('are listed only from a cursor of the same list', async () => {
    await createApplication();
    const { body } = await platform.api.get('/applications?limit=1');
    for (const path of [
      `/applications?status=SAVED&cursor=${body.nextCursor}`,
      `/users?cursor=${body.nextCursor}`,
      `/retailers?cursor=${body.nextCursor}`,
      '/applications?cursor=Zm9yZ2Vk',
    ]) {
      const refused = await platform.api.get(path);
      expect([refused.status, refused.body.code], path).toEqual([400, 'invalid_cursor']);
      expect(refused.body.errors).toMatchObject([{ in: 'query', pointer: '/cursor' }]);
    }
  });
});

describe('users', () => {
  test('are those of the retailer and of its group, and show no other tenant’s ids', async () => {
    const { demo } = platform;
    const [retailerGroupId, colleague, inactive] = [randomUUID(), randomUUID(), randomUUID()];
    await put(`/retailer-groups/${retailerGroupId}`, { name: 'Harbour Auto Group' });
    await put(`/retailers/${demo.retailerId}`, { name: 'Harbour Motors', retailerGroupId });
    const person = { firstName: 'Ariel', lastName: 'Roy', email: 'ariel.roy@example.com' };
    const otherIds = [demo.otherTenant.retailerId];
    await put(`/users/${colleague}`, {
      ...person,
      retailerIds: otherIds,
      retailerGroupIds: [retailerGroupId],
    });
    await put(`/users/${inactive}`, { ...person, active: false, retailerIds: [demo.retailerId] });

    const { records } = await walk('/users', 1);
    expect(records).toHaveLength((await walk('/users', 100)).records.length);
    const byId = new Map(records.map((user) => [user.userId, user]));
    expect(byId.get(colleague)).toEqual({
      userId: colleague,
      ...person,
      active: true,
      retailerIds: [],
      retailerGroupIds: [retailerGroupId],
    });
    expect(byId.get(inactive)).toMatchObject({ active: false, retailerIds: [demo.retailerId] });
    expect(byId.get(demo.retailerUserId)).toMatchObject({ active: true });
    expect(JSON.stringify(records)).not.toContain(demo.otherTenant.retailerId);

    const active = (await walk('/users?active=true', 100)).records.map(({ userId }) => userId);
    expect(active).toContain(colleague);
    expect(active).not.toContain(inactive);
    const inactives = (await walk('/users?active=false', 100)).records;
    expect(inactives.map(({ userId }) => userId)).toContain(inactive);
  });
});

describe('retailers and creditors', () => {
  test('are those granted to the integration, each once in pages of any size', async () => {
    const { demo } = platform;
    const { records: retailers } = await walk('/retailers', 1);
    expect(retailers).toMatchObject([{ retailerId: demo.retailerId, name: 'Harbour Motors' }]);
    const creditorIds = Array.from({ length: 4 }, () => randomUUID());
    for (const id of creditorIds) {
      await put(`/creditors/${id}`, { name: `Creditor ${id}` });
      await put(`/integrations/${demo.integrationId}/creditors/${id}`);
    }
    // A creditor that is granted and not registered has no name to show.
    await put(`/integrations/${demo.integrationId}/creditors/${randomUUID()}`);
    for (const limit of [1, 2, 100]) {
      const { records } = await walk('/creditors', limit);
      expect(records.map((it) => it.creditorId)).toEqual(
        [demo.creditorId, ...creditorIds].toSorted(),
      );
    }
    const { records } = await walk('/creditors', 100);
    expect(records.find((it) => it.creditorId === demo.creditorId)).toEqual({
      creditorId: demo.creditorId,
      name: 'First Prairie Finance',
      disabled: false,
      grantedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    });
  });

  test('no longer granted are no longer listed', async () => {
    const { demo } = platform;
    const id = randomUUID();
    await put(`/creditors/${id}`, { name: 'Lakeside Lending' });
    const grant = `/platform/integrations/${demo.integrationId}/creditors/${id}`;
    await put(grant.slice('/platform'.length));
    const ids = async () => (await walk('/creditors', 100)).records.map((it) => it.creditorId);
    expect(await ids()).toContain(id);
    await platform.api.call('DELETE', grant, { key: demo.keys.platform });
    expect(await ids()).not.toContain(id);
  });
});

describe('a list of long texts', () => {
  const COMMENTS = 24;
  const REQUESTS = 60;
  let path: string;
  beforeAll(async () => {
    path = await startConversation(platform, COMMENTS, LONG_COMMENT);
  });

  test('ends each page early, and has each record on one page', async () => {
    const { records, pages } = await walk(path, 100);
    expect(records.map(({ comment }) => comment)).toEqual(Array(COMMENTS).fill(LONG_COMMENT));
    expect(pages).toBe(6);
  });

  test('lets other tenants’ requests pass while it is read again and again', async () => {
    const { otherTenant } = platform.demo;
    let isAnswered = false;
    const all = readConversation(platform, path, REQUESTS, () => !isAnswered);
    const { status } = await platform.api.get(decisionPath(otherTenant), { key: otherTenant.key });
    isAnswered = true;
    expect(status).toBe(200);
    await all;
  });
});

test('an integration with several retailers names one in the header', async () => {
  const { demo } = platform;
  const second = randomUUID();
  await put(`/retailers/${second}`, { name: 'Harbour Trucks' });
  await put(`/integrations/${demo.integrationId}/retailers/${second}`);
  for (const path of ['/users', '/applications']) {
    const refused = await eventually('refusal once the new grant is seen', async () => {
      const answer = await platform.api.get(path);
      return answer.status === 200 ? undefined : answer;
    });
    expect([refused.status, refused.body.code]).toEqual([400, 'retailer_required']);
    expect(refused.body.message).toContain('X-Service-Retailer-ID');
    const listed = await platform.api.get(path, { headers: { 'X-Service-Retailer-ID': second } });
    expect([listed.status, listed.body]).toEqual([200, { data: [], nextCursor: null }]);
  }
});
