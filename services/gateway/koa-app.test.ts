// What a new operation can do, shown by operations that are added to the OpenAPI document here.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateApiKey } from '@creditlane/crypto/api-key';
import { Caller } from '@creditlane/proto/common/v1/access';
import type { CallContext } from '@creditlane/rpc/client';
import { newId } from '@creditlane/runtime/ids';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { afterAll, describe, expect, test } from 'vitest';
import { Access } from './access/access.ts';
import {
  describeDeprecation,
  type OpenApiDocument,
  openApiDocument,
  type PathItem,
} from './document/openapi-document.ts';
import { operationsOf } from './document/operation.ts';
import { compileValidators } from './document/validation.ts';
import { createKoaApp } from './koa-app.ts';
import { RateLimiter } from './limits/rate-limiter.ts';
import { Refusals } from './middleware/refusals.ts';
import type { BoundHandler } from './operations/handlers.ts';
import type { OperationContext } from './request-state.ts';

const TIMEOUT_MS = 10_000;
const UUID = { type: 'string', format: 'uuid' };
const PDF = { content: { 'application/pdf': { schema: {} } } };

/** A document with these paths alone. */
function documentOf(paths: Record<string, PathItem>): OpenApiDocument {
  return { ...openApiDocument(), paths };
}

function operation(operationId: string, more: object): NonNullable<PathItem['post']> {
  return {
    operationId,
    'x-needs': [],
    'x-access': { caller: 'integration' },
    responses: { 204: {} },
    ...more,
  };
}

const jsonBody = (properties: object) => ({
  requestBody: { content: { 'application/json': { schema: { type: 'object', properties } } } },
});

const document = documentOf({
  '/reports': {
    post: operation('requestReport', { responses: { 200: PDF, 202: {} } }),
    get: operation('getReport', { responses: { 200: PDF } }),
  },
  '/reports/latest': { get: operation('getLatestReport', {}) },
  '/reports/{reportId}': {
    get: operation('getReportById', {
      parameters: [
        {
          name: 'reportId',
          in: 'path',
          required: true,
          schema: { type: 'string' },
          example: 'R-7',
        },
      ],
    }),
  },
  '/scores': {
    get: operation('getScore', {
      deprecated: true,
      'x-deprecated-at': '2026-03-01',
      'x-sunset-at': '2026-09-01',
      'x-deprecation-link': 'https://creditlane.example/scores',
      responses: { 204: {}, 401: {} },
      parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
    }),
    post: operation('requestScore', { deprecated: true, 'x-deprecated-at': '2026-03-01' }),
  },
  '/waits': { post: operation('waitForDecision', { 'x-deadline-seconds': 30 }) },
  '/pulls': {
    post: operation('pullCredit', {
      'x-access': {
        caller: 'integration',
        side: ['retailer'],
        target: { applicationId: '$request.body#/pull/applicationId' },
      },
      ...jsonBody({
        pull: {
          type: 'object',
          properties: { applicationId: UUID, reference: { type: 'string', maxLength: 100 } },
        },
      }),
    }),
  },
});

const seen: { call: { context: CallContext; body: unknown }; id: string }[] = [];
const located: string[] = [];
let answer: (ctx: OperationContext) => unknown = () => undefined;

const handlers = Object.fromEntries(
  operationsOf(document).map(({ id }): [string, BoundHandler] => [
    id,
    async (call, ctx) => {
      seen.push({ id, call });
      return answer(ctx);
    },
  ]),
);

const key = generateApiKey(false);
const access = {
  authenticate: async () => ({
    callerId: newId(),
    keyId: newId(),
    caller: Caller.INTEGRATION,
    permissions: [],
  }),
  takeRequests: async () => ({ granted: 1, wholeInMs: 0, validMs: 60_000 }),
  checkGrants: async () => ({ retailer: true, creditor: true }),
};
const applications = {
  locateApplication: async ({ applicationId }: { applicationId: string }) => {
    located.push(applicationId);
    return { retailerId: newId(), inContext: true };
  },
};
const metrics = new Metrics();
const log = createLog('gateway', { level: 'silent' });
const app = createKoaApp({
  document,
  operations: operationsOf(document),
  validators: compileValidators(document, operationsOf(document)),
  handlers,
  access: new Access({ access, applications } as never, { cacheMs: 0 }),
  rateLimiter: new RateLimiter(
    access as never,
    { requests: 1_000, windowMs: 1_000 },
    { log, metrics },
  ),
  publicPath: '',
  maxUnderWay: 10,
  timeoutMs: TIMEOUT_MS,
  log,
  metrics,
  refusals: new Refusals(metrics),
});
const answerRequest = app.callback();
const server = createServer((req, res) => void answerRequest(req, res));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => new Promise((resolve) => server.close(resolve)));

function send(method: string, path: string, body?: object, withKey = key): Promise<Response> {
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1${path}`, {
    method,
    headers: { authorization: withKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

describe('a handler', () => {
  test('sets another described status, and headers', async () => {
    answer = (ctx) => {
      ctx.status = 202;
      ctx.set('Location', '/v1/reports/7');
      return undefined;
    };
    const response = await send('POST', '/reports');
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe('/v1/reports/7');
  });

  test('that sets a status which the document does not describe is answered with 500', async () => {
    answer = (ctx) => {
      ctx.status = 203;
      return undefined;
    };
    expect((await send('POST', '/reports')).status).toBe(500);
  });

  test('answers with a file, in the described type', async () => {
    answer = (ctx) => {
      ctx.attachment('report.pdf');
      return Buffer.from('%PDF-1.7');
    };
    const response = await send('GET', '/reports');
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="report.pdf"');
    expect(response.headers.get('content-length')).toBe('8');
    expect(await response.text()).toBe('%PDF-1.7');
  });
});

describe('a deprecated operation', () => {
  test('says so in every answer, with the time of its end and a link', async () => {
    answer = () => undefined;
    const answers = [
      await send('GET', '/scores'),
      await send('HEAD', '/scores'),
      await send('GET', '/scores?limit=x'),
      await send('GET', '/scores', undefined, 'cl_test_unknown'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 400, 401]);
    for (const { headers } of answers) {
      expect(headers.get('deprecation')).toBe('@1772323200');
      expect(headers.get('sunset')).toBe('Tue, 01 Sep 2026 00:00:00 GMT');
      expect(headers.get('link')).toBe(
        '<https://creditlane.example/scores>; rel="deprecation"; type="text/html"',
      );
    }
  });

  test('has no Sunset while its end is not known, and links to the documentation by itself', async () => {
    const { headers } = await send('POST', '/scores');
    expect(headers.get('deprecation')).toBe('@1772323200');
    expect(headers.has('sunset')).toBe(false);
    expect(headers.get('link')).toBe('<../docs>; rel="deprecation"; type="text/html"');
  });

  test('does not change the answers of others', async () => {
    const { headers } = await send('POST', '/waits');
    for (const name of ['deprecation', 'sunset', 'link']) expect(headers.has(name)).toBe(false);
  });

  test('describes the headers in each of its answers, those that operations share included', () => {
    const described = structuredClone(document);
    const get = described.paths['/scores']?.get;
    if (get !== undefined) get.responses['400'] = { $ref: '#/components/responses/BadRequest' };
    describeDeprecation(described);
    for (const response of Object.values(get?.responses ?? {})) {
      const { headers } = response as { headers?: object };
      expect(Object.keys(headers ?? {})).toEqual(
        expect.arrayContaining(['Deprecation', 'Sunset', 'Link']),
      );
    }
    const shared = described.components.responses?.BadRequest as { headers: object };
    expect(shared.headers).not.toHaveProperty('Deprecation');
  });
});

test('an operation has a deadline of its own, and the others have that of the settings', async () => {
  answer = () => undefined;
  for (const [path, timeoutMs] of [
    ['/waits', 30_000],
    ['/pulls', TIMEOUT_MS],
  ] as const) {
    const sentMs = Date.now();
    expect((await send('POST', path)).status).toBe(204);
    const deadlineMs = seen.at(-1)?.call.context.deadlineMs ?? 0;
    expect(deadlineMs).toBeGreaterThanOrEqual(sentMs + timeoutMs);
    expect(deadlineMs).toBeLessThanOrEqual(Date.now() + timeoutMs);
  }
});

test('the access target is read from the body, and only UUIDs become lower case', async () => {
  answer = () => undefined;
  const applicationId = newId();
  const pull = { applicationId: applicationId.toUpperCase(), reference: 'ABC-7' };
  expect((await send('POST', '/pulls', { pull })).status).toBe(204);
  expect(located.at(-1)).toBe(applicationId);
  expect(seen.at(-1)?.call.body).toEqual({ pull: { applicationId, reference: 'ABC-7' } });
});

test('a path that is written out goes before one with a placeholder', async () => {
  answer = () => undefined;
  for (const [path, id] of [
    ['/reports/latest', 'getLatestReport'],
    ['/reports/later', 'getReportById'],
  ] as const) {
    await send('GET', path);
    expect(seen.at(-1)?.id).toBe(id);
  }
});

describe('at start', () => {
  const withTarget = (target: Record<string, string>) => ({
    'x-access': { caller: 'integration', side: ['retailer'], target },
    ...jsonBody({ id: UUID, note: { type: 'string', maxLength: 100 } }),
  });

  test.each([
    {
      what: 'no parameter of the operation',
      more: withTarget({ applicationId: '$request.path.id' }),
    },
    { what: 'no field of the body', more: withTarget({ applicationId: '$request.body#/other' }) },
    { what: 'a field that is no UUID', more: withTarget({ retailerId: '$request.body#/note' }) },
    { what: 'no kind of record', more: withTarget({ userId: '$request.body#/id' }) },
  ])('an access target that names $what is refused with the id of the operation', ({ more }) => {
    const wrong = documentOf({ '/pulls': { post: operation('pullCredit', more) } });
    expect(() => operationsOf(wrong)).toThrow(/^pullCredit /);
  });

  test.each([
    [{ deprecated: true }, 'must have a date such as 2026-03-31 in x-deprecated-at'],
    [{ deprecated: true, 'x-deprecated-at': '2026-02-30' }, 'must have a date'],
    [
      { deprecated: true, 'x-deprecated-at': '2026-03-01', 'x-sunset-at': 'soon' },
      'must have a date such as 2026-03-31 in x-sunset-at',
    ],
    [
      { deprecated: true, 'x-deprecated-at': '2026-03-01', 'x-sunset-at': '2026-02-28' },
      'must not have x-sunset-at before x-deprecated-at',
    ],
    [{ 'x-sunset-at': '2026-03-01' }, 'must be deprecated'],
  ])('a deprecation as %o is refused with the id of the operation', (more, message) => {
    const wrong = documentOf({ '/waits': { post: operation('waitForDecision', more) } });
    expect(() => operationsOf(wrong)).toThrow(`waitForDecision ${message}`);
  });

  test('a deadline beyond what load balancers wait for is refused', () => {
    const more = { 'x-deadline-seconds': 61 };
    const wrong = documentOf({ '/waits': { post: operation('waitForDecision', more) } });
    expect(() => operationsOf(wrong)).toThrow('waitForDecision must have x-deadline-seconds');
  });
});
