// On a running platform, the examples of requests in the documentation work, with its ids in place of theirs, and
// requests that are generated from the descriptions are answered as described.
import { randomUUID } from 'node:crypto';
import { examplesOf } from '@creditlane/gateway/document/examples';
import { loadOpenApiDocument } from '@creditlane/gateway/document/openapi-document';
import { type Operation, operationsOf } from '@creditlane/gateway/document/operation';
import { RequestGenerator } from '@creditlane/gateway/document/test-requests';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';

/** The operations that others need before them, and those that end what others need. */
const FIRST = ['setIntegrationStatus'];
const LAST = [
  ...['archiveApplication', 'disableIntegration', 'revokeKey', 'removeDestination'],
  ...['withdrawCreditor', 'withdrawRetailer'],
];

const document = loadOpenApiDocument();
const rank = ({ id }: Operation) => (FIRST.includes(id) ? -1 : LAST.indexOf(id) + 1);
const operations = operationsOf(document).sort((one, other) => rank(one) - rank(other));
const requests = operations.flatMap((operation) => {
  const { id, method, route, parameters } = operation;
  const path = route.slice('/v1'.length);
  const url = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, it) => text.replace(`{${it.name}}`, exampleOf(it)), path);
  const body = document.paths[path]?.[method]?.requestBody?.content['application/json'];
  const examples = examplesOf(document, body);
  const bodies = examples.length === 0 ? [{ name: 'no body', value: undefined }] : examples;
  return bodies.map(({ name, value }) => ({ operation, id, name, url, body: value }));
});

let platform: TestPlatform;
beforeAll(async () => {
  const everywhere = { RATE_LIMIT_REQUESTS: '1000000', RATE_LIMIT_WINDOW: '1s' };
  platform = await startTestPlatform({ everywhere });
});
afterAll(() => platform.close());

describe('generated requests', () => {
  /** Records that the requests may change: none of those that the examples need. */
  let records: Record<Operation['access']['caller'], Record<string, string>>;
  beforeAll(async () => {
    records = await makeRecords();
  });
  const { runs, seed } = inject('generatedRequests');
  const numRuns = Math.ceil(runs / 10);

  test.each(operations)(
    '$id answers as described, and never with 5xx, whether or not a request is acceptable',
    async (operation) => {
      const { method, access } = operation;
      const generator = new RequestGenerator(document, operation, records[access.caller]);
      const key = platform.demo.keys[access.caller];
      const any = fc.oneof(generator.acceptable(), generator.withMistake());
      const property = fc.asyncProperty(any, async ({ path, headers, body }) => {
        const route = path.slice('/v1'.length);
        const answer = await platform.api.call(method.toUpperCase(), route, { key, headers, body });
        expect(answer.status).toBeLessThan(500);
      });
      await fc.assert(property, { seed, numRuns });
    },
    Math.max(20_000, 100 * runs),
  );
});

async function makeRecords() {
  const { api, demo } = platform;
  const asPlatform = { key: demo.keys.platform };
  const retailerId = randomUUID();
  const creditorId = randomUUID();
  for (const path of [`/platform/retailers/${retailerId}`, `/platform/creditors/${creditorId}`]) {
    await api.call('PUT', path, { ...asPlatform, body: { name: 'Changed' } });
  }
  const registered = await api.post('/platform/integrations', { name: 'Changed' }, asPlatform);
  const { integrationId } = registered.body;
  const submission = await platform.submitNewApplication();
  await platform.settle();
  const [{ deliveryId }] = (await api.get('/webhook-deliveries?state=DELIVERED')).body.data;
  const { retailerId: own } = demo;
  const integration = {
    ...submission,
    ...{ integrationId: demo.integrationId, retailerId: own, deliveryId },
    ...{ userId: demo.users.active, 'X-Service-Retailer-ID': own },
  };
  return { integration, platform: { integrationId, retailerId, creditorId } };
}

describe('the example of', () => {
  test.each(requests)('$id, $name, succeeds with the ids of the demo', async (request) => {
    const { operation, id, url, body } = request;
    const replace = await idReplacer(id);
    const key = platform.demo.keys[operation.access.caller];
    const answer = await platform.api.call(operation.method.toUpperCase(), replace(url), {
      key,
      ...(body !== undefined && { body: replace(JSON.stringify(body)) }),
    });
    expect([...operation.successes.keys()], JSON.stringify(answer.body)).toContain(answer.status);
  });
});

/** Puts the ids of the demo's records where a text has those of the examples. */
async function idReplacer(operationId: string): Promise<(text: string) => string> {
  const { demo, api } = platform;
  const ids = new Map([
    ['a001', demo.retailerId],
    ['b001', demo.applicationId],
    ['c001', demo.creditorId],
    ['d001', demo.integrationId],
    ['e001', demo.users.active],
    ['f001', demo.applicantId],
  ]);
  if (operationId === 'submitApplication') {
    const { draft } = demo.applications;
    const { body } = await api.get(`/applications/${draft}`);
    ids.set('b001', draft).set('f001', body.primaryApplicant.applicantId);
  }
  if (operationId === 'revokeKey') {
    const path = `/platform/integrations/${demo.integrationId}/keys`;
    const { body } = await api.post(path, {}, { key: demo.keys.platform });
    ids.set('1001', body.keyId);
  }
  if (operationId === 'replayDelivery' || operationId === 'getDelivery') {
    await platform.settle();
    const { body } = await api.get('/webhook-deliveries?state=DELIVERED');
    ids.set('5001', body.data[0].deliveryId);
  }
  return (text) =>
    text.replaceAll(/0198c0de-0000-7000-8000-0{8}(\w{4})/g, (id, end) => ids.get(end) ?? id);
}

function exampleOf(parameter: object): string {
  return 'example' in parameter ? String(parameter.example) : '';
}
