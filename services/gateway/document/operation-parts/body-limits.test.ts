import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../openapi-document.ts';
import { operationsOf } from '../operation.ts';
import { publishedDocument } from '../published/published-document.ts';
import { bodyLimits } from './body-limits.ts';

const KIB = 1024;
const document = openApiDocument();

test('an operation takes what the longest values of its properties need, and 64 KiB more', () => {
  const limits = operationsOf(document).map(({ id, bodyLimits: { maxBytes } }) => [
    id,
    maxBytes / KIB,
  ]);
  expect(Object.fromEntries(limits)).toMatchObject({
    createApplication: 576,
    submitApplication: 384,
    recordDecision: 128,
    registerUser: 192,
    registerIntegration: 128,
    setDestination: 128,
    getDecision: 64,
    revokeKey: 64,
  });
});

test('the limit of each body is in the published description of the request', () => {
  const operations = operationsOf(document);
  const { paths } = publishedDocument(document, operations);
  const unstated = operations.flatMap(({ id, method, route, bodyLimits, body }) => {
    const { requestBody } = paths[route.replace('/v1', '')]?.[method] ?? {};
    const limit = `At most ${bodyLimits.maxBytes / KIB} KiB.`;
    return body && !requestBody?.description?.endsWith(limit) ? [id] : [];
  });
  expect(unstated).toEqual([]);
});

describe('the limit of a body', () => {
  const limitOf = (schema: object) => bodyLimits(document, schema as never).maxBytes / KIB;

  test('counts six bytes for each character, and as many items as an array may have', () => {
    const item = { type: 'string', maxLength: 10_000 };
    expect(limitOf(item)).toBe(128);
    expect(limitOf({ type: 'array', maxItems: 4, items: item })).toBe(320);
    expect(limitOf({ allOf: [{ properties: { a: item } }, { properties: { b: item } }] })).toBe(
      192,
    );
  });

  test('is never more than 1 MiB', () => {
    expect(limitOf({ type: 'string', maxLength: 1_000_000 })).toBe(1024);
  });

  test.each([
    {
      what: 'a number without maximum',
      property: { type: 'number', minimum: 0 },
      message: 'a has no minimum or no maximum',
    },
    {
      what: 'a string without maxLength',
      property: { type: 'string' },
      message: 'a has no maxLength',
    },
    {
      what: 'an array without maxItems',
      property: { type: 'array', items: { type: 'number' } },
      message: 'a has no maxItems',
    },
    {
      what: 'an object with any properties without x-max-json-bytes',
      property: { type: 'object', additionalProperties: true },
      message: 'a has no x-max-json-bytes',
    },
  ])('cannot be derived for $what, which is refused at start', ({ property, message }) => {
    expect(() => limitOf({ type: 'object', properties: { a: property } })).toThrow(message);
  });
});

test('a body holds as many values as its described properties can have, and 4,096 more', () => {
  const valuesOf = (schema: object) => bodyLimits(document, schema as never).maxValues - 4_096;
  const number = { type: 'number', minimum: 0, maximum: 9 };
  const point = { type: 'object', properties: { x: number, y: number } };
  expect(valuesOf(point)).toBe(3);
  expect(valuesOf({ type: 'array', maxItems: 10, items: point })).toBe(31);
});

test('with an object of 32 KiB with any properties, a body has three times the bytes, and a value for every two', () => {
  const limitsOf = (schema: object) => bodyLimits(document, schema as never);
  const anything = { type: 'object', additionalProperties: true, 'x-max-json-bytes': 32 * KIB };
  const { maxBytes, maxValues } = limitsOf({ type: 'object', properties: { a: anything } });
  expect([maxBytes / KIB, maxValues]).toEqual([192, 1 + 16 * KIB + 4_096]);
});

test('the arrays of a body are limited by the properties that lead to them', () => {
  const operation = operationsOf(document).find(({ id }) => id === 'createApplication');
  const shapeOf = (name: string) => operation?.bodyLimits.shape?.properties?.get(name);
  const sources = new Map([['additionalIncomeSources', { maxItems: 8 }]]);
  const histories = new Map<string, object>([
    ['addressHistory', { maxItems: 20 }],
    ['employmentHistory', { maxItems: 20, items: { properties: sources } }],
  ]);
  expect(shapeOf('primaryApplicant')).toEqual({ properties: histories });
  expect(shapeOf('coApplicant')).toEqual({ properties: histories });
  expect(shapeOf('relationship')).toBeUndefined();
});
