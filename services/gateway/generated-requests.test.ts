// Requests generated from the OpenAPI document for every operation, acceptable and not. The HTTP client of the
// tests refuses every answer that the document does not describe.
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { generateApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { PullState, Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { newId } from '@creditlane/runtime/ids';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { openApiDocument } from './document/openapi-document.ts';
import { type Operation, operationsOf } from './document/operation.ts';
import { type GeneratedRequest, RequestGenerator, without } from './document/test-requests.ts';
import { requiredPlaces } from './document/test-schema-values.ts';
import { aConsent } from './fake-services/test-consents-service.ts';
import { LINK_SIGNATURE } from './fake-services/test-credit-file-service.ts';
import { startTestGateway } from './test-gateway.ts';

/**
 * Operations whose service calls the applications service, which its fake does not: a list by hand, as the calls of
 * one service to another are in no contract.
 */
const CALL_APPLICATIONS = [
  'commentAsCreditor',
  'enableForRetailer',
  'eraseApplicant',
  'readCreditFileDocument',
];

const { runs, seed } = inject('generatedRequests');
const document = openApiDocument();
const rateLimit = { requests: 1_000_000, windowMs: 1_000 };
const gateway = await startTestGateway({ rateLimit });
afterAll(gateway.close);
beforeEach(() => {
  // Otherwise the answers grow with the requests before.
  gateway.services.calls.length = 0;
  gateway.services.submissions.set(`${application} ${creditor}`, []);
  gateway.services.comments.length = 0;
  gateway.services.consents.splice(0, Number.POSITIVE_INFINITY, aConsent(consentId));
  gateway.services.bureauCredentials = ['EQUIFAX', 'TRANSUNION'].map((name) => ({
    source: Source[name as keyof typeof Source],
    member: '999ZB12345',
    baseUrl: 'https://bureau.example.com',
    setAt: at,
  }));
  gateway.services.creditFiles.set(applicant, {
    pull: { id: fileId, source: Source.EQUIFAX, state: PullState.COMPLETE, requestedAt: at },
    file: { id: fileId, hitType: 'HIT' },
  });
});
const at = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
const [deliveryId, consentId] = [newId(), newId()];
gateway.services.deliveries = [
  {
    deliveryId,
    event: 'applicationBooked',
    state: DeliveryState.DEAD,
    createdAt: at,
  },
];
const fileId = newId();
const keyWithPermissions = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration, [
  'ENQUEUE_RETAILER_CHAT',
  'READ_SIN',
  'FORCE_PULL',
]);

const { application, applicant, creditor, retailer, integration } = gateway.ids;
const known = {
  applicationId: application,
  creditorId: creditor,
  creditorIds: [creditor],
  retailerId: retailer,
  integrationId: integration,
  deliveryId,
  consentId,
  applicantId: applicant,
  fileId,
  expires: '1772464745',
  signature: LINK_SIGNATURE,
  'X-Service-Retailer-ID': retailer,
};
const cases = operationsOf(document).map((operation) => ({
  id: operation.id,
  operation,
  generator: new RequestGenerator(document, operation, known),
}));

const keyOf = ({ access }: Operation) =>
  access.caller === 'platform' ? gateway.platformKey : keyWithPermissions;

/** Sends the request with the caller's key, unless its headers have another authorization. */
function send(operation: Operation, { path, headers, body }: GeneratedRequest) {
  const key = 'authorization' in headers ? '' : keyOf(operation);
  return gateway.send(operation.method.toUpperCase(), path, { key, headers, body });
}

const check = <T>(values: fc.Arbitrary<T>, property: (value: T) => Promise<void>, numRuns = runs) =>
  fc.assert(fc.asyncProperty(values, property), { seed, numRuns });

const anAcceptable = (generator: RequestGenerator): GeneratedRequest =>
  fc.sample(generator.acceptable(), { seed, numRuns: 1 })[0] ?? expect.unreachable();

describe('generated requests', { timeout: Math.max(120_000, 1_000 * runs) }, () => {
  test.each(cases)(
    '$id accepts every request that its description permits',
    async ({ operation, generator }) => {
      await check(generator.acceptable(), async (request) => {
        const answer = await send(operation, request);
        expect([...operation.successes.keys()], answer.text).toContain(answer.status);
      });
    },
  );

  test.each(cases)(
    '$id calls the services that it is said to need, and no other',
    async ({ id, operation, generator }) => {
      const request = anAcceptable(generator);
      // With this header the gateway looks the retailer of each application up.
      const { 'X-Service-Retailer-ID': _, ...headers } = request.headers;
      const { peersCalled } = gateway.services;
      peersCalled.clear();
      const answer = await send(operation, { ...request, headers });
      expect([...operation.successes.keys()], answer.text).toContain(answer.status);
      const needed = new Set<string>(operation.needs);
      if (CALL_APPLICATIONS.includes(id)) needed.delete('applications');
      // Of the integrations service, requests may still be taken for the quota of an earlier request's key.
      for (const services of [peersCalled, needed]) services.delete('integrations');
      expect(peersCalled).toEqual(needed);
    },
  );

  test.each(cases)(
    '$id answers a request with a mistake as described, never with 5xx',
    async ({ operation, generator }) => {
      await check(generator.withMistake(), async (request) => {
        expect((await send(operation, request)).status).toBeLessThan(500);
      });
    },
  );

  test.each(cases)(
    '$id answers 400 without a body, field or parameter that it requires',
    async ({ operation, generator }) => {
      const request = anAcceptable(generator);
      if (operation.body?.required) {
        const { status, json } = await send(operation, { ...request, body: undefined });
        expect([status, json.code]).toEqual([400, 'body_missing']);
      }
      const body = generator.completeBody(seed);
      const places = requiredPlaces(document, generator.bodySchema ?? {});
      for (const place of places) {
        const answer = await send(operation, { ...request, body: without(body, place) });
        requireRefusal(answer, { pointer: `/${place.join('/')}`, message: 'is required' });
      }
      for (const { name, in: place, required } of operation.parameters) {
        if (!required || place === 'path') continue;
        const [path = '', query] = request.path.split('?');
        const search = new URLSearchParams(query);
        search.delete(name);
        const headers = { ...request.headers };
        delete headers[name];
        const answer = await send(operation, { ...request, path: `${path}?${search}`, headers });
        requireRefusal(answer, { in: place, pointer: `/${name}`, message: 'is required' });
      }
    },
  );

  test.each(cases.filter(({ operation }) => operation.access.caller !== 'link'))(
    '$id answers 401 without a valid key of its kind, however sent, and calls nothing',
    async ({ operation, generator }) => {
      const requests = fc.oneof(generator.acceptable(), generator.withMistake());
      const numRuns = Math.max(1, Math.round(runs / 40));
      await check(
        requests,
        async ({ path, headers, body }) => {
          // A path without one of its ids, or with `..`, which HTTP clients resolve, is that of no operation.
          fc.pre(!/\/\.{0,2}(\/|\?|$)/.test(path));
          for (const [name, text] of invalidCredentials(operation)) {
            const before = countCalls();
            const withOther = { ...headers, [name]: text };
            const answer = await send(operation, {
              path,
              headers: { authorization: '', ...withOther },
              body,
            });
            expect(answer.status, `${name}: ${text}`).toBe(401);
            expect(countCalls(), `${name}: ${text}`).toBe(before);
          }
        },
        numRuns,
      );
    },
  );
});

/** Headers that prove no identity for the operation. */
function invalidCredentials(operation: Operation): [name: string, text: string][] {
  const key = keyOf(operation);
  const otherKind = key === keyWithPermissions ? gateway.platformKey : keyWithPermissions;
  const changed = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  const basic = Buffer.from(`${key}:`).toString('base64');
  const authorizations = [
    ...['', 'x', 'Bearer', `Bearer ${newId()}`, `Basic ${basic}`, `Digest username="${key}"`],
    ...[`Token ${key}`, `Bearer ${key} ${key}`, `Bearer ${key},`, `Bearer Bearer ${key}`],
    ...[`Bearer ${changed}`, `Bearer ${key.toUpperCase()}`, `Bearer ${key.slice(0, -1)}`],
    ...[`Bearer ${generateApiKey(true)}`, `Bearer ${otherKind}`, otherKind],
  ].map((text): [string, string] => ['authorization', text]);
  return [
    ...authorizations,
    ...['x-api-key', 'api-key', 'cookie', 'proxy-authorization', 'x-authorization'].map(
      (name): [string, string] => [name, `Bearer ${key}`],
    ),
  ];
}

/** The calls of operations: those that look the key up do not count. */
function countCalls(): number {
  return gateway.services.calls.filter(({ method }) => method !== 'authenticate').length;
}

function requireRefusal(
  { status, json }: Awaited<ReturnType<typeof send>>,
  field: { in?: string; pointer: string; message: string },
): void {
  expect([status, json.code], field.pointer).toEqual([400, 'invalid_request']);
  expect(json.errors).toContainEqual(field);
}
