import { unauthenticated } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { errorAnswer } from '../errors.ts';
import { bindHandlers } from '../operations/handlers.ts';
import {
  type JsonObject,
  type OpenApiDocument,
  openApiDocument,
  operationsIn,
  resolveReference,
} from './openapi-document.ts';
import { operationsOf } from './operation.ts';

const document = openApiDocument();
const operations = operationsOf(document);
/** The operations of the specification. */
const CONTRACT = [
  'commentAsCreditor',
  'commentAsRetailerUser',
  'getDecision',
  'recordDecision',
  'setIncomeStatus',
  'enableIntegration',
  'disableIntegration',
  'setIntegrationStatus',
  'listUsers',
  'requestCreditFile',
  'readCreditFile',
];
/** Those of them for which the specification lists 404. */
const CONTRACT_WITH_404 = ['commentAsRetailerUser', 'readCreditFile'];

/** The extensions whose requests name no record that could be missing. */
const NAMES_NO_RECORD = [
  'registerIntegration',
  'listPlatformActs',
  'listRetailers',
  'listCreditors',
  'listDeliveries',
];

describe('the OpenAPI document', () => {
  test('has a summary and tags for every operation, the tag "extension" for those not in the specification', () => {
    for (const { operation } of operationsIn(document.paths)) {
      const { operationId, summary, tags } = operation as typeof operation & JsonObject;
      expect(summary, operationId).toBeTruthy();
      expect(tags, operationId).not.toEqual([]);
      const inContract = CONTRACT.includes(operationId);
      expect((tags as string[]).includes('extension'), operationId).toBe(!inContract);
    }
  });

  test('lists 404 on the extensions, and where the specification lists it', () => {
    for (const { id, statuses } of operations) {
      const isContract = CONTRACT.includes(id) && !CONTRACT_WITH_404.includes(id);
      const namesNoRecord = NAMES_NO_RECORD.includes(id);
      expect(statuses.has(404), id).toBe(!isContract && !namesNoRecord);
    }
  });
});

test.each([
  ['listApplications', 'before_call'],
  ['readCreditFile', 'before_answer'],
  ['readCreditFileDocument', 'none'],
  ['getIncomeStatus', 'none'],
  ['submitApplication', 'none'],
])('a request for %s takes its turn among the large reads of its caller: %s', (id, turn) => {
  expect(operations.find((operation) => operation.id === id)?.turn).toBe(turn);
});

describe('a list', () => {
  const lists = operations.filter(({ parameters }) =>
    parameters.some((it) => it.name === 'cursor'),
  );
  const { Limit, Cursor } = document.components.parameters ?? {};

  test.each(lists)('$id has the parameters and the page of all lists', (operation) => {
    const described = document.paths[operation.route.slice('/v1'.length)]?.get;
    const response = described?.responses['200'] as { content: Record<string, JsonObject> };
    const schema = response.content['application/json']?.schema;
    expect(schema).toMatchObject({
      type: 'object',
      required: ['data', 'nextCursor'],
      properties: {
        data: { type: 'array', items: { $ref: expect.any(String) } },
        nextCursor: { $ref: '#/components/schemas/NextCursor' },
      },
    });
    expect(operation.parameters).toEqual(expect.arrayContaining([Limit, Cursor]));
  });

  test('is every operation whose answer has a nextCursor', () => {
    const { components, paths } = document;
    const described = JSON.stringify([components.schemas, paths]);
    expect(described.match(/"nextCursor":\{/g)).toHaveLength(lists.length);
  });
});

describe('operations and handlers', () => {
  const handlers = Object.fromEntries(operations.map(({ id }) => [id, async () => undefined]));

  test('are refused at start unless each operation has a handler and each handler an operation', () => {
    expect(bindHandlers(operations, handlers).size).toBe(operations.length);
    const { getDecision: _, ...missing } = handlers;
    const wrong = { ...missing, readDecision: async () => undefined };
    expect(() => bindHandlers(operations, wrong)).toThrow(
      'operation getDecision has no handler; handler readDecision has no operation',
    );
  });

  test('an operation that does not say who may call it is refused at start', () => {
    const copy = structuredClone(document) as OpenApiDocument;
    const post = copy.paths['/applications']?.post;
    if (post !== undefined) post['x-access'] = { caller: 'anyone' };
    expect(() => operationsOf(copy)).toThrow('createApplication must say in x-access');
  });

  test('an operation that lists no needed services, or an unknown one, is refused at start', () => {
    const copy = structuredClone(document) as OpenApiDocument;
    const post = copy.paths['/applications']?.post;
    if (post !== undefined) post['x-needs'] = ['aplications'];
    expect(() => operationsOf(copy)).toThrow(
      'createApplication must name in x-needs services that the gateway calls, and not aplications',
    );
    if (post !== undefined) Reflect.deleteProperty(post, 'x-needs');
    expect(() => operationsOf(copy)).toThrow('createApplication must list in x-needs the services');
  });

  test('a reference that leads nowhere is refused at start', () => {
    expect(() => resolveReference(document, { $ref: '#/components/schemas/Nothing' })).toThrow(
      '#/components/schemas/Nothing leads nowhere',
    );
  });
});

test('an error whose schema is closed has only the properties of the schema', () => {
  const copy = structuredClone(document) as OpenApiDocument;
  const post = copy.paths['/applications']?.post;
  const schema = {
    type: 'object',
    additionalProperties: false,
    properties: { status: { type: 'integer' } },
  };
  if (post !== undefined) {
    post.responses['401'] = {
      content: { 'application/json': { schema } },
    } as unknown as JsonObject;
  }
  const operation = operationsOf(copy).find(({ id }) => id === 'createApplication');
  const answer = errorAnswer(unauthenticated('key_missing', 'send your key'), {
    operation,
    requestId: 'r',
    asProblem: true,
  });
  expect(answer.body).toBe('{"status":401}');
});
