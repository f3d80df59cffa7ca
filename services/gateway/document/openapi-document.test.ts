import { expect, test } from 'vitest';
import { openApiDocument } from './openapi-document.ts';

/**
 * The paths of the members without a value, which a comma in unquoted YAML leaves behind. An example and a list
 * of values may hold null.
 */
function findEmpty(value: unknown, path = ''): string[] {
  if (value === null) return [path];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name.startsWith('example') || name === 'enum' ? [] : findEmpty(member, `${path}/${name}`),
  );
}

test('no sentence of the document is cut off at a comma', () => {
  expect(findEmpty(openApiDocument())).toEqual([]);
});
