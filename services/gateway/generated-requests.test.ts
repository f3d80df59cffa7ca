// Requests generated from the OpenAPI document, valid and not. The HTTP client of the tests refuses every
// answer that the document does not describe.
import { generateApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import { newId } from '@creditlane/runtime/ids';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { loadOpenApiDocument } from './document/openapi-document.ts';
import { type Operation, operationsOf } from './document/operation.ts';
import {
  requiredPlaces,
  type ValueSchema,
  validValues,
  valuesWithMistake,
} from './document/test-schema-values.ts';
import { startTestGateway } from './test-gateway.ts';

/** Requests of each kind and operation; 10 times as many were run once without a finding. */
const RUNS = 40;
const SEED = 20_260_331;

const document = loadOpenApiDocument();
const rateLimit = { requests: 1_000_000, windowMs: 1_000 };
const gateway = await startTestGateway({ rateLimit });
afterAll(gateway.close);
const keyWithPermissions = gateway.services.issue(Caller.INTEGRATION, gateway.ids.integration, [
  'ENQUEUE_RETAILER_CHAT',
]);

const known = {
  applicationId: gateway.ids.application,
  creditorId: gateway.ids.creditor,
  creditorIds: [gateway.ids.creditor],
  retailerId: gateway.ids.retailer,
  integrationId: gateway.ids.integration,
};
const operations = operationsOf(document).map((operation) => {
  const { id, method, route } = operation;
  const described = document.paths[route.slice('/v1'.length)]?.[method];
  const schema = described?.requestBody?.content['application/json']?.schema;
  return { id, operation, schema: schema as ValueSchema | undefined };
});
const withBody = operations.flatMap(({ schema, ...it }) => (schema ? [{ ...it, schema }] : []));

interface Sent {
  key?: string;
  body?: unknown;
  /** In place of the last id in the path. */
  lastId?: string;
}

async function send({ method, route, access }: Operation, { key, body, lastId }: Sent = {}) {
  const own = access.caller === 'platform' ? gateway.platformKey : keyWithPermissions;
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const path = route.replaceAll(/\{(\w+)\}/g, (_, name) => {
    if (name === names.at(-1) && lastId !== undefined) return encodeURIComponent(lastId);
    return String((known as Record<string, unknown>)[name] ?? newId());
  });
  return gateway.send(method.toUpperCase(), path, { key: key ?? own, body });
}

const check = <T>(values: fc.Arbitrary<T>, property: (value: T) => Promise<void>) =>
  fc.assert(fc.asyncProperty(values, property), { seed: SEED, numRuns: RUNS });

describe('generated requests', { timeout: 120_000 }, () => {
  test.each(withBody)('$id accepts every body that its schema describes', async (it) => {
    await check(validValues(document, it.schema, { known }), async (body) => {
      const answer = await send(it.operation, { body });
      expect([...it.operation.successes.keys()], answer.text).toContain(answer.status);
    });
  });

  test.each(withBody)(
    '$id answers a body with a mistake as described, never with 5xx',
    async (it) => {
      await check(valuesWithMistake(document, it.schema, { known }), async (body) => {
        expect((await send(it.operation, { body })).status).toBeLessThan(500);
      });
    },
  );

  test.each(operations)(
    '$id answers any id in its path as described, never with 5xx',
    async (it) => {
      await check(fc.string({ unit: 'grapheme', maxLength: 60 }), async (lastId) => {
        expect((await send(it.operation, { lastId })).status).toBeLessThan(500);
      });
    },
  );

  test.each(withBody)('$id answers 400 without a field that its schema requires', async (it) => {
    const complete = validValues(document, it.schema, { known, complete: true });
    for (const place of requiredPlaces(document, it.schema)) {
      const [body] = fc.sample(complete, { seed: SEED, numRuns: 1 });
      removeAt(body, place);
      const { status, json } = await send(it.operation, { body });
      expect([status, json.code], place.join('/')).toEqual([400, 'invalid_request']);
      expect(json.errors).toContainEqual(
        expect.objectContaining({ pointer: `/${place.join('/')}`, message: 'is required' }),
      );
    }
  });

  test.each(operations)('$id answers 401 without a valid key, whatever the body', async (it) => {
    const { caller } = it.operation.access;
    const keyOfOtherKind = caller === 'platform' ? gateway.key : gateway.platformKey;
    const keys = fc.constantFrom('', 'x', generateApiKey(true), keyOfOtherKind);
    const bodies = it.schema === undefined ? fc.constant(undefined) : fc.jsonValue();
    await check(fc.tuple(keys, bodies), async ([key, body]) => {
      expect((await send(it.operation, { key, body })).status).toBe(401);
    });
  });
});

function removeAt(value: unknown, place: readonly string[]): void {
  const [name = '', ...rest] = place;
  const part = value as Record<string, unknown>;
  if (rest.length > 0) removeAt(part[name], rest);
  else delete part[name];
}
