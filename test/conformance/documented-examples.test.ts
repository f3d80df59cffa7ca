// The examples of requests in the documentation work on a running platform, with its ids in place of theirs.
import { examplesOf } from '@creditlane/gateway/document/examples';
import { loadOpenApiDocument } from '@creditlane/gateway/document/openapi-document';
import { type Operation, operationsOf } from '@creditlane/gateway/document/operation';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';

/** The operations that others need before them, and those that end what others need. */
const FIRST = ['setIntegrationStatus'];
const LAST = [
  ...['archiveApplication', 'disableIntegration', 'revokeKey', 'removeDestination'],
  ...['withdrawCreditor', 'withdrawRetailer'],
];

const document = loadOpenApiDocument();
const rank = ({ id }: Operation) => (FIRST.includes(id) ? -1 : LAST.indexOf(id) + 1);
const requests = operationsOf(document)
  .sort((one, other) => rank(one) - rank(other))
  .flatMap((operation) => {
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
  platform = await startTestPlatform();
});
afterAll(() => platform.close());

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
