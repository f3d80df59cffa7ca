import { expect, test } from 'vitest';
import { type JsonValue, openApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { PATTERNS, refusedFields } from './validation-messages.ts';

const wrongFields = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ pointer: `/ids/${n}`, message: 'must be a UUID' }));

test('the first twenty wrong fields are named, and the message tells how many others there are', () => {
  const { message, fields } = refusedFields(wrongFields(23));
  expect(fields).toEqual(wrongFields(20));
  expect(message).toMatch(
    /^\/ids\/0 must be a UUID; .*; \/ids\/19 must be a UUID; and 3 more fields$/,
  );
  expect(refusedFields(wrongFields(21)).message).toMatch(/; and 1 more field$/);
});

test('twenty wrong fields are all named', () => {
  expect(refusedFields(wrongFields(20)).message).toMatch(/; \/ids\/19 must be a UUID$/);
});

test('a parameter is named with its place, and the whole body by words', () => {
  const message = 'must be a UUID';
  expect(refusedFields([{ in: 'path', pointer: '/creditorId', message }]).message).toBe(
    '/creditorId in the path must be a UUID',
  );
  expect(refusedFields([{ pointer: '', message: 'must be an object' }]).message).toBe(
    'the body must be an object',
  );
});

test('every pattern that a request must match has words of its own', () => {
  const document = openApiDocument();
  const parameters = operationsOf(document).flatMap((operation) => operation.parameters);
  const bodies = Object.values(document.paths);
  const patterns = patternsIn([parameters, bodies, document.components.schemas] as JsonValue);
  expect(patterns.size).toBeGreaterThan(2);
  expect([...patterns].filter((pattern) => !(pattern in PATTERNS))).toEqual([]);
});

function patternsIn(part: JsonValue): Set<string> {
  if (typeof part !== 'object' || part === null) return new Set();
  const below = Object.values(part).flatMap((member) => [...patternsIn(member)]);
  const { pattern } = part as { pattern?: JsonValue };
  return new Set(typeof pattern === 'string' ? [...below, pattern] : below);
}
