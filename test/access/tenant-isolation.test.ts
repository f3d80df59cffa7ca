// Two tenants on one platform. What each operation answers to whom is tested by access-matrix.test.ts.
import { randomUUID } from 'node:crypto';
import { openApiDocument, operationsIn } from '@creditlane/gateway/document/openapi-document';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCESS_CHANGES_WITHIN_MS } from '../platform/access-change.ts';
import { decisionPath } from '../platform/api-client.ts';
import { eventually } from '../platform/eventually.ts';
import { openTestPlatform } from '../platform/shared-platform.ts';
import type { TestPlatform } from '../platform/test-platform.ts';
import { matrixOperations } from './matrix/matrix-operation.ts';
import { Records } from './matrix/records.ts';
import { makeRequest } from './matrix/request.ts';

const document = openApiDocument();

describe('of two tenants', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await openTestPlatform();
  });
  afterAll(() => platform.close());

  test('each reads its own records and not those of the other', async () => {
    const { key, ...other } = platform.demo.otherTenant;
    const decision = await platform.api.get(decisionPath(other), { key });
    expect(decision.body.decision).toBe('AWAITING_DECISION');
    const application = await platform.api.get(`/applications/${other.applicationId}`, { key });
    expect(application.status).toBe(200);
    expect((await platform.api.get(decisionPath(other))).status).toBe(400);
  });

  test('one changes nothing by all operations with the ids of the other, and causes no webhook', async () => {
    const operations = operationsIn(document.paths)
      .flatMap((placed) => matrixOperations(document, placed))
      .filter(({ access }) => access.caller === 'integration');
    const { own } = await Records.open(platform, operations);
    const call = (operation: (typeof operations)[number], key: string) => {
      const { path, options } = makeRequest(operation, own);
      return platform.api.call(operation.method, path, { ...options, key });
    };
    const readAll = async () => {
      const { integration } = platform.demo.keys;
      const reads = operations.filter(({ method }) => method === 'GET');
      const answers = reads.map(async (it) => {
        // A read of a record that is not there yet is an error, which names its request.
        const { requestId: _, ...body } = (await call(it, integration)).body;
        return [it.id, body];
      });
      return Promise.all(answers);
    };
    await readAll(); // The first reading of a comment delivers it.
    // The replay that is among the records ends by itself.
    await eventually('end of the replay', async () => {
      const { body } = await platform.api.get(`/webhook-replays/${own.replayId}`);
      return body.state === 'COMPLETED' || undefined;
    });
    await platform.settle();
    const before = await readAll();
    await platform.inbox.clear();

    const naming = operations.filter(({ places }) => places.some(({ sent }) => sent));
    for (const operation of naming) {
      const { status } = await call(operation, platform.demo.otherTenant.key);
      expect(status, operation.id).toBeGreaterThanOrEqual(400);
    }
    await platform.settle();
    expect(await readAll()).toEqual(before);
    expect(await platform.inbox.list()).toEqual([]);
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
      ACCESS_CHANGES_WITHIN_MS,
    );
    expect(await readAsSibling(decisionPath(platform.demo))).toBe(200);
    const foreign = `/applications/${platform.demo.otherTenant.applicationId}`;
    expect(await readAsSibling(foreign)).toBe(404);

    await put(`/retailers/${sibling}`, { name: 'Harbour Trucks' });
    await eventually(
      'answer 404 after the retailer left the group',
      async () => (await readAsSibling(application)) === 404 || undefined,
      ACCESS_CHANGES_WITHIN_MS,
    );
  });
});
