import { expect, test } from 'vitest';
import { type JsonValue, openApiDocument } from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { PATTERNS } from './validation-messages.ts';

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
