// Every operation, status, required field, value and event of the interface specification, on a whole platform.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openApiDocument } from '@creditlane/gateway/document/openapi-document';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { recordDemoDecision } from '../platform/api-client.ts';
import { hexSignature } from '../platform/hex-signature.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';
import { conformancePage, titleOf } from './conformance-page.ts';
import { RESTRICTIONS } from './restrictions.ts';
import {
  SPECIFIED_EVENTS,
  SPECIFIED_OPERATIONS,
  type SpecifiedOperation,
} from './specified-interface.ts';

const document = openApiDocument();
let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.close());

interface Change {
  /** Fields of the body; undefined leaves one out. */
  body?: Record<string, unknown>;
  key?: string | null;
  applicationId?: string;
  headers?: Record<string, string>;
}

/** The smallest body that an operation accepts. */
function smallestBody(id: string): Record<string, unknown> {
  const { applicationId, creditorId, users } = platform.demo;
  const bodies: Record<string, Record<string, unknown>> = {
    recordDecision: { applicationId, decision: 'BOOKED' },
    commentAsCreditor: { userName: 'Ines Okafor', comment: 'Please send a pay stub.' },
    setIncomeStatus: { incomeStatus: 'VERIFIED' },
    commentAsRetailerUser: { userId: users.active, comment: 'It is attached.' },
    enableIntegration: { creditorId },
    disableIntegration: { creditorId },
    setIntegrationStatus: { creditorId, status: 'REQUESTED' },
    requestCreditFile: { source: 'EQUIFAX' },
  };
  return bodies[id] ?? {};
}

async function send({ id, method, path }: SpecifiedOperation, change: Change = {}) {
  const { demo, api } = platform;
  const { key = demo.keys.integration, applicationId = demo.applicationId, headers = {} } = change;
  const filled = path
    .replace('{applicationId}', applicationId)
    .replace('{creditorId}', demo.creditorId)
    .replace('{applicantId}', demo.applicantId);
  const body = { ...smallestBody(id), ...change.body };
  return api.call(method, filled, { key, headers, ...(method === 'POST' && { body }) });
}

/** What leads to a status, where a smallest request does not lead to it. */
const CAUSES: Record<string, () => Change | Promise<Change>> = {
  'getDecision 400': () => ({ applicationId: randomUUID() }),
  'recordDecision 400': () => ({ body: { decision: 'DRAFT' } }),
  'commentAsCreditor 400': () => ({ body: { comment: ' ' } }),
  'setIncomeStatus 400': () => ({ applicationId: randomUUID() }),
  'commentAsRetailerUser 400': () => ({ body: { userId: platform.demo.users.inactive } }),
  'commentAsRetailerUser 403': () => ({ key: platform.demo.keys.withoutChat }),
  'commentAsRetailerUser 404': () => ({ applicationId: randomUUID() }),
  'enableIntegration 200': () => setStatus('REQUESTED'),
  'enableIntegration 400': () => ({ body: { creditorId: randomUUID() } }),
  'enableIntegration 409': () => setStatus('FAILED_TO_ENABLE'),
  'disableIntegration 400': () => ({ body: { creditorId: randomUUID() } }),
  'setIntegrationStatus 400': () => ({ body: { creditorId: 'x' } }),
  'setIntegrationStatus 422': () => ({ body: { status: 'ENABLED' } }),
  'requestCreditFile 400': () => ({ applicationId: randomUUID() }),
  'readCreditFile 200': () => requestCreditFile(),
  'readCreditFile 400': () => ({ headers: { 'X-Service-Retailer-ID': 'x' } }),
  'readCreditFile 404': () => ({ applicationId: randomUUID() }),
};

async function setStatus(status: string): Promise<Change> {
  const { creditorId } = platform.demo;
  await platform.api.post('/creditors/integration-status', { creditorId, status });
  return {};
}

async function requestCreditFile(): Promise<Change> {
  const { applicationId, applicantId } = platform.demo;
  const path = `/applications/${applicationId}/credit-file/${applicantId}/request`;
  await platform.api.post(path, { source: 'EQUIFAX' });
  return { headers: { Prefer: 'wait=30' } };
}

describe.each(SPECIFIED_OPERATIONS)('the operation', (operation) => {
  const { id, statuses, required, values } = operation;
  // After disableIntegration, the other operations would have no access to the creditor.
  beforeEach(() => setStatus('REQUESTED'));

  test.each(statuses.map((status) => ({ status, title: titleOf.status(id, status) })))(
    '$title',
    async ({ status }) => {
      const cause = CAUSES[`${id} ${status}`];
      const change = status === 401 ? { key: null } : await cause?.();
      expect((await send(operation, change)).status).toBe(status);
    },
  );

  test.each(required.map((field) => ({ field, title: titleOf.required(id, field) })))(
    '$title',
    async ({ field }) => {
      const answer = await send(operation, { body: { [field]: undefined } });
      expect(answer.status).toBe(400);
      expect(answer.body.errors).toMatchObject([{ pointer: `/${field}` }]);
    },
  );

  test.each(Object.keys(values).map((field) => ({ field, title: titleOf.values(id, field) })))(
    '$title',
    async ({ field }) => {
      for (const value of values[field] ?? []) {
        const { status } = await send(operation, { body: { [field]: value } });
        expect(status, value).toBe(statuses[0]);
      }
      for (const value of ['AWAITING_DECISION', 'DRAFT', 'BI-WEEKLY', 'ENABLED', 'XX', '']) {
        const { status } = await send(operation, { body: { [field]: value } });
        expect(status, value).toBe(statuses.includes(422) ? 422 : 400);
      }
    },
  );
});

const refusals = RESTRICTIONS.flatMap(({ refused }) => (refused === undefined ? [] : [refused]));
test.each(refusals)('$id refuses $fields, as the restrictions say', async ({ id, fields }) => {
  const operation = SPECIFIED_OPERATIONS.find((it) => it.id === id);
  if (operation === undefined) throw new Error(`${id} is not specified`);
  await setStatus('REQUESTED');
  const { status, body } = await send(operation, { body: fields });
  expect(status).toBe(400);
  const pointers = body.errors.map(({ pointer }: { pointer: string }) => pointer);
  expect(pointers.toSorted()).toEqual(
    Object.keys(fields)
      .map((field) => `/${field}`)
      .toSorted(),
  );
});

describe('the event', () => {
  beforeEach(async () => {
    await setStatus('REQUESTED');
    await platform.settle();
    await platform.inbox.clear();
  });

  async function cause(name: string, status: string | undefined): Promise<void> {
    const { demo, api } = platform;
    if (name === 'integrationEnabled') {
      const path = `/platform/integrations/${demo.integrationId}/retailers/${demo.retailerId}`;
      await api.post(`${path}/enable`, {}, { key: demo.keys.platform });
    } else if (name === 'awaitingDecision') {
      await platform.submitNewApplication();
    } else if (name === 'applicationExported') {
      await platform.exportApplication(demo);
    } else {
      await recordDemoDecision(demo, status ?? '');
    }
  }

  test.each(SPECIFIED_EVENTS.map((event) => ({ event, title: titleOf.event(event.name) })))(
    '$title',
    async ({ event: { name, path, signatureHeader, status, required } }) => {
      await cause(name, status);
      const [webhook] = await platform.inbox.waitFor(1);
      expect(webhook?.path).toBe(path);
      const { body = '', headers = {} } = webhook ?? {};
      expect(headers[signatureHeader.toLowerCase()]).toBe(
        hexSignature(platform.demo.webhookSecret, body),
      );
      const payload = JSON.parse(body);
      expect(Object.keys(payload)).toEqual(expect.arrayContaining(required));
      expect(payload.status).toBe(status);
      expect(document.webhooks).toHaveProperty(name);
    },
  );
});

test('docs/conformance.md is what the specified interface generates', () => {
  const page = readFileSync(new URL('../../docs/conformance.md', import.meta.url), 'utf8');
  expect(page === conformancePage(), 'npm run generate').toBe(true);
});
