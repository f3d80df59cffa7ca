import { randomUUID } from 'node:crypto';
import { makeSubmission } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, decisionPath } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

/** The ids that the operations on one submission need. */
interface RecordIds {
  applicationId: string;
  applicantId: string;
  creditorId: string;
  retailerUserId: string;
}

describe('a tenant cannot find out whether another tenant’s record exists', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.close());

  /** The parts of an answer that must be the same for a foreign record and for an unknown one. */
  const comparable = ({ status, body, headers }: Answer) => ({
    status,
    headers: [...headers.keys()].filter((name) => !name.startsWith('ratelimit')),
    body: { ...body, requestId: '', message: body.message.replaceAll(/[0-9a-f-]{36}/g, 'ID') },
  });

  const DECISION_OPERATIONS = [
    {
      name: 'reading a decision',
      call: (ids: RecordIds, key: string) => platform.api.get(decisionPath(ids), { key }),
    },
    {
      name: 'reading all decisions',
      call: (ids: RecordIds, key: string) => platform.api.get(`${decisionPath(ids)}s`, { key }),
    },
    {
      name: 'recording a decision',
      call: (ids: RecordIds, key: string) => {
        const body = { applicationId: ids.applicationId, decision: 'DECLINED' };
        return platform.api.post(decisionPath(ids), body, { key });
      },
    },
    {
      name: 'reading the income status',
      call: (ids: RecordIds, key: string) => platform.api.get(incomeStatusPath(ids), { key }),
    },
    {
      name: 'setting the income status',
      call: (ids: RecordIds, key: string) =>
        platform.api.post(incomeStatusPath(ids), { incomeStatus: 'WAIVED' }, { key }),
    },
  ];
  const INTEGRATION_OPERATIONS = [
    {
      name: 'enabling the integration for a creditor',
      call: ({ creditorId }: RecordIds, key: string) =>
        platform.api.post('/creditors/enable-integration', { creditorId }, { key }),
    },
    {
      name: 'disabling the integration for a creditor',
      call: ({ creditorId }: RecordIds, key: string) =>
        platform.api.post('/creditors/disable-integration', { creditorId }, { key }),
    },
    {
      name: 'setting the integration’s status for a creditor',
      call: ({ creditorId }: RecordIds, key: string) => {
        const body = { creditorId, status: 'REQUESTED' };
        return platform.api.post('/creditors/integration-status', body, { key });
      },
    },
    {
      name: 'reading the integration’s status for a creditor',
      call: ({ creditorId }: RecordIds, key: string) =>
        platform.api.get(`/creditors/${creditorId}/integration`, { key }),
    },
  ];
  const conversationPath = ({ applicationId, creditorId }: RecordIds, end: string) =>
    `/applications/${applicationId}/creditors/${creditorId}/${end}`;
  const CONVERSATION_OPERATIONS = [
    {
      name: 'reading a conversation',
      call: (ids: RecordIds, key: string) =>
        platform.api.get(conversationPath(ids, 'conversation'), { key }),
    },
    {
      name: 'commenting as the creditor',
      call: (ids: RecordIds, key: string) => {
        const body = { userName: 'Ines Okafor', comment: 'Hello' };
        return platform.api.post(conversationPath(ids, 'comment'), body, { key });
      },
    },
  ];
  const SUBMISSION_OPERATIONS = [...DECISION_OPERATIONS, ...CONVERSATION_OPERATIONS];
  const APPLICATION_OPERATIONS = [
    {
      name: 'reading an application',
      call: (ids: RecordIds, key: string) =>
        platform.api.get(`/applications/${ids.applicationId}`, { key }),
    },
    {
      name: 'archiving an application',
      call: (ids: RecordIds, key: string) =>
        platform.api.post(`/applications/${ids.applicationId}/archive`, undefined, { key }),
    },
    {
      name: 'submitting an application',
      call: (ids: RecordIds, key: string) => {
        const path = `/applications/${ids.applicationId}/submit`;
        return platform.api.post(path, makeSubmission(ids), { key });
      },
    },
  ];

  test.each([...SUBMISSION_OPERATIONS, ...INTEGRATION_OPERATIONS, ...APPLICATION_OPERATIONS])(
    '$name of another tenant gets the same answer as for ids that do not exist',
    async ({ call }) => {
      const { key } = platform.demo.otherTenant;
      const foreign = await call(platform.demo, key);
      const unknown = await call(
        { ...platform.demo, applicationId: randomUUID(), creditorId: randomUUID() },
        key,
      );
      expect(foreign.status).toBeGreaterThanOrEqual(400);
      expect(comparable(foreign)).toEqual(comparable(unknown));
    },
  );

  test.each(SUBMISSION_OPERATIONS)(
    '$name with the tenant’s own creditor on a foreign application gets the answer of an unknown application',
    async ({ call }) => {
      const { key, creditorId } = platform.demo.otherTenant;
      const { applicationId } = platform.demo;
      const foreign = await call({ ...platform.demo, applicationId, creditorId }, key);
      const unknownIds = { applicationId: randomUUID(), creditorId };
      const unknown = await call({ ...platform.demo, ...unknownIds }, key);
      expect(foreign.status).toBeGreaterThanOrEqual(400);
      expect(comparable(foreign)).toEqual(comparable(unknown));
    },
  );

  test.each(['/users', '/applications'])(
    '%s of another tenant’s retailer gets the same answer as for a retailer that does not exist',
    async (path) => {
      const list = (retailerId: string) =>
        platform.api.get(path, { headers: { 'x-service-retailer-id': retailerId } });
      const foreign = await list(platform.demo.otherTenant.retailerId);
      expect(foreign.body.code).toBe('retailer_not_found');
      expect(comparable(foreign)).toEqual(comparable(await list(randomUUID())));
    },
  );

  test('after all refused requests the decision is unchanged and no webhook was sent', async () => {
    await platform.settle();
    const read = await platform.api.get(decisionPath(platform.demo));
    expect(read.body.decision).toBe('AWAITING_DECISION');
    expect(await platform.inbox.list()).toEqual([]);
  });

  test('each tenant reads its own records and not those of the other', async () => {
    const { key, ...other } = platform.demo.otherTenant;
    const decision = await platform.api.get(decisionPath(other), { key });
    expect(decision.body.decision).toBe('AWAITING_DECISION');
    const application = await platform.api.get(`/applications/${other.applicationId}`, { key });
    expect(application.status).toBe(200);
    expect((await platform.api.get(decisionPath(other))).status).toBe(400);
  });

  test('a foreign retailer context is refused like one that does not exist', async () => {
    const readAs = (retailerId: string) =>
      platform.api.get(`/applications/${platform.demo.applicationId}`, {
        headers: { 'x-service-retailer-id': retailerId },
      });
    expect(comparable(await readAs(platform.demo.otherTenant.retailerId))).toEqual(
      comparable(await readAs(randomUUID())),
    );
    expect((await readAs(platform.demo.retailerId)).status).toBe(200);
  });

  test('a retailer context reads the records of its group, until the retailer leaves the group', async () => {
    const asPlatform = { key: platform.demo.keys.platform };
    const put = (path: string, body?: object) =>
      platform.api.call('PUT', `/platform${path}`, { ...asPlatform, body });
    const { retailerId, integrationId } = platform.demo;
    const [retailerGroupId, sibling] = [randomUUID(), randomUUID()];
    await put(`/retailer-groups/${retailerGroupId}`, { name: 'Harbour Auto Group' });
    await put(`/retailers/${retailerId}`, { name: 'Harbour Motors', retailerGroupId });
    await put(`/retailers/${sibling}`, { name: 'Harbour Trucks', retailerGroupId });
    const readAsSibling = async (path: string) => {
      const headers = { 'x-service-retailer-id': sibling };
      return (await platform.api.get(path, { headers })).status;
    };
    const application = `/applications/${platform.demo.applicationId}`;
    expect(await readAsSibling(application)).toBe(404);

    await put(`/integrations/${integrationId}/retailers/${sibling}`);
    await eventually(
      'answer 200 after the grant',
      async () => (await readAsSibling(application)) === 200 || undefined,
      5_500,
    );
    expect(await readAsSibling(decisionPath(platform.demo))).toBe(200);
    const foreign = `/applications/${platform.demo.otherTenant.applicationId}`;
    expect(await readAsSibling(foreign)).toBe(404);

    await put(`/retailers/${sibling}`, { name: 'Harbour Trucks' });
    await eventually(
      'answer 404 after the retailer left the group',
      async () => (await readAsSibling(application)) === 404 || undefined,
      5_500,
    );
  });
});

function incomeStatusPath({ applicationId, creditorId }: RecordIds): string {
  return `/applications/${applicationId}/creditors/${creditorId}/income-status`;
}
