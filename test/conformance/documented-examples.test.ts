// On a running platform, the examples, code samples and guides of the documentation work, with its ids in place of theirs, and
// requests that are generated from the descriptions are answered as described.
import { randomUUID } from 'node:crypto';
import { examplesOf } from '@creditlane/gateway/document/examples';
import { openApiDocument } from '@creditlane/gateway/document/openapi-document';
import { type Operation, operationsOf } from '@creditlane/gateway/document/operation';
import { RequestGenerator } from '@creditlane/gateway/document/test-requests';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, type TestContext, test } from 'vitest';
import {
  codeSamples,
  guidePrograms,
  hasPython,
  type Program,
  ProgramFolder,
} from '../documentation/sample-programs.ts';
import { eventually } from '../platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from '../platform/test-platform.ts';

/** The operations that others need before them, and those that end what others need. */
const FIRST = ['setIntegrationStatus'];
const LAST = [
  ...['archiveApplication', 'disableIntegration', 'revokeKey', 'removeDestination'],
  ...['withdrawCreditor', 'withdrawRetailer'],
  ...['setEquifaxCredentials', 'setTransUnionCredentials', 'getBureauCredentials'],
  ...['removeBureauCredentials', 'eraseApplicant'],
];

const document = openApiDocument();
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
let folder: ProgramFolder;
beforeAll(async () => {
  const everywhere = { RATE_LIMIT_REQUESTS: '1000000', RATE_LIMIT_WINDOW: '1s' };
  platform = await startTestPlatform({ everywhere });
  folder = new ProgramFolder();
});
afterAll(async () => {
  folder.close();
  await platform.close();
});

/** Operations of each kind: a read, a write with two examples, a list of one retailer, a PUT of the platform. */
const RUN_OPERATIONS = ['getDecision', 'recordDecision', 'listUsers', 'registerRetailer'];
const samples = codeSamples().filter(({ name }) =>
  RUN_OPERATIONS.includes(name.split('-')[0] ?? ''),
);
const programs = guidePrograms();

function guideProgram(heading: string, language: string, index = 0): Program {
  const found = programs.filter((it) => it.name === heading && it.language === language)[index];
  if (found === undefined) throw new Error(`the guide "${heading}" has no such program`);
  return found;
}

async function skipWithoutPython(language: string, context: TestContext): Promise<void> {
  if (language !== 'python' || (await hasPython())) return;
  context.skip('python3 is not installed on this machine');
}

/** Runs a program with the ids, the address and the keys of the demo; resolves to what it prints. */
async function runProgram(program: Program): Promise<string> {
  const { baseUrl, keys } = platform.demo;
  const replace = await idReplacer('');
  const env = { BASE_URL: baseUrl, KEY: keys.integration, PLATFORM_KEY: keys.platform };
  return folder.run({ ...program, source: replace(program.source) }, env);
}

describe('the code sample of', () => {
  test.for(samples)(
    '$name in $language succeeds with the ids of the demo',
    async (sample, context) => {
      await skipWithoutPython(sample.language, context);
      const printed = await runProgram(sample);
      const { creditorId, users } = platform.demo;
      if (sample.name.startsWith('getDecision')) expect(printed).toContain(creditorId);
      if (sample.name.startsWith('listUsers')) expect(printed).toContain(users.active);
      if (sample.name.startsWith('recordDecision-1')) expect(printed).toContain('DECLINED');
    },
  );
});

describe('a guide', () => {
  test('to the first request shows a request that is answered', async () => {
    const printed = await runProgram(guideProgram('the-first-request', 'shell', 1));
    expect(printed).toContain(platform.demo.creditorId);
  });

  test.for(['typescript', 'python'])(
    'to credit files pulls one in %s and reads it',
    async (language, context) => {
      await skipWithoutPython(language, context);
      const printed = await runProgram(guideProgram('pull-and-read-a-file', language));
      const { baseUrl } = platform.demo;
      expect(printed).toMatch(new RegExp(`^HIT ${baseUrl}/credit-files/[\\w-]+/document\\?.+\n$`));
    },
  );

  test.for(['typescript', 'python'])(
    'to errors shows in %s how to read one',
    async (language, context) => {
      await skipWithoutPython(language, context);
      const program = guideProgram('errors', language);
      const source = program.source.replace('-00000000b001', '-00000000b009');
      expect(await runProgram({ ...program, source })).toMatch(
        /^400 (submission_not_found|invalid_request) .+ [\w-]{36}\n$/,
      );
    },
  );

  test.for(['typescript', 'python'])(
    'to webhooks has a receiver in %s that takes what the platform sends, once, and nothing else',
    async (language, context) => {
      await skipWithoutPython(language, context);
      await platform.resetInbox();
      await platform.recordDecision(platform.demo, { decision: 'BOOKED' });
      const [{ path, body, headers } = { path: '', body: '', headers: {} }] =
        await platform.inbox.waitFor(1);
      const signed = Object.entries(headers).filter(([name]) => /^(webhook|x)-/.test(name));
      const [port = 0] = await findFreePorts(1);
      const unknown = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
      const secrets = `${unknown} ${platform.demo.webhookSecret}`;
      const program = guideProgram(`verify-a-webhook-in-${language}`, language);
      const receiver = folder.start(program, { WEBHOOK_SECRET: secrets, PORT: `${port}` });
      let printed = '';
      receiver.stdout.on('data', (data) => {
        printed += data;
      });
      const post = async (sent: string, changed: Record<string, string> = {}) => {
        const request = { ...Object.fromEntries(signed), ...changed };
        const url = `http://127.0.0.1:${port}${path}`;
        return (await fetch(url, { method: 'POST', headers: request, body: sent })).status;
      };
      try {
        await eventually('receiver', () => post('').catch(() => undefined));
        expect(await post(body)).toBe(204);
        expect(await post(body)).toBe(204);
        expect(await post(body.replace('BOOKED', 'DECLINED'))).toBe(400);
        expect(await post(body, { 'webhook-id': 'another' })).toBe(400);
        expect(await post(body, { 'webhook-timestamp': '1700000000' })).toBe(400);
        expect(await post(body, { 'webhook-signature': 'v1,AAAA' })).toBe(400);
        await eventually('line', async () => printed.includes('\n') || undefined);
        expect(printed.match(/BOOKED/g)).toHaveLength(1);
      } finally {
        receiver.kill();
      }
    },
  );
});

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
      const key = keyFor(operation);
      const any = fc.oneof(generator.acceptable(), generator.withMistake());
      const property = fc.asyncProperty(any, async ({ path, headers, body }) => {
        const route = path.slice('/v1'.length);
        const answer = await platform.api.call(method.toUpperCase(), route, { key, headers, body });
        expect(answer.status).toBeLessThan(500);
      });
      await fc.assert(property, { seed, numRuns });
    },
    Math.max(20_000, 200 * runs),
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
  const { primaryApplicant } = (await api.get(`/applications/${submission.applicationId}`)).body;
  const { applicantId } = primaryApplicant;
  const consents = `/applications/${submission.applicationId}/applicants/${applicantId}/consents`;
  const [{ consentId }] = (await api.get(consents)).body.data;
  const integration = {
    ...submission,
    ...{ applicantId, consentId, capturedBy: demo.users.active, revokedBy: demo.users.active },
    ...{ integrationId: demo.integrationId, retailerId: own, deliveryId },
    ...{ userId: demo.users.active, 'X-Service-Retailer-ID': own },
  };
  return { integration, platform: { integrationId, retailerId, creditorId }, link: {} };
}

/** Null where the operation takes no key. */
function keyFor({ access: { caller } }: Operation): string | null {
  return caller === 'link' ? null : platform.demo.keys[caller];
}

/** The path of the link to the PDF of the demo's credit file. */
async function documentLink(): Promise<string> {
  const { baseUrl, creditFile } = platform.demo;
  const path = `/applications/${creditFile.applicationId}/credit-file/${creditFile.applicantId}`;
  await platform.api.post(`${path}/request`, { source: 'EQUIFAX' });
  const { body } = await platform.api.get(path, { headers: { Prefer: 'wait=30' } });
  return body.signedPdfUrl.slice(baseUrl.length);
}

describe('the example of', () => {
  test.each(requests)('$id, $name, succeeds with the ids of the demo', async (request) => {
    const { operation, id, url, body } = request;
    const replace = await idReplacer(id);
    const isLink = operation.access.caller === 'link';
    const path = isLink ? await documentLink() : replace(url);
    const answer = await platform.api.call(operation.method.toUpperCase(), path, {
      key: keyFor(operation),
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
  if (operationId === 'revokeConsent') {
    const path = `/applications/${demo.applicationId}/applicants/${demo.applicantId}/consents`;
    const terms = {
      purpose: 'CREDIT_APPLICATION',
      textVersion: 'v1',
      capturedBy: demo.users.active,
    };
    ids.set('9001', (await api.post(path, terms)).body.consentId);
  }
  if (operationId === 'replayDelivery' || operationId === 'getDelivery') {
    await platform.settle();
    const { body } = await api.get('/webhook-deliveries?state=DELIVERED');
    ids.set('5001', body.data[0].deliveryId);
  }
  if (['replayDeliveries', 'getReplay', 'cancelReplay'].includes(operationId)) {
    await platform.settle();
    if (operationId !== 'replayDeliveries') {
      ids.set('6001', (await api.post('/webhook-replays', {})).body.replayId);
    }
  }
  return (text) =>
    text.replaceAll(/0198c0de-0000-7000-8000-0{8}(\w{4})/g, (id, end) => ids.get(end) ?? id);
}

function exampleOf(parameter: object): string {
  return 'example' in parameter ? String(parameter.example) : '';
}
