import { describe, expect, test } from 'vitest';
import { openApiDocument, operationsIn } from './openapi-document.ts';

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

// OpenAPI Generator 7.23 has these faults. Its Python client could not be imported, lacked operations, or refused last
// pages; its Java client could not be compiled.
describe('a client that OpenAPI Generator makes of the document', () => {
  const { paths, webhooks, components } = openApiDocument();

  test('has the parameters of webhooks, because none of them is a reference', () => {
    const all = operationsIn(webhooks).flatMap(({ parameters }) => parameters);
    expect(all.filter((parameter) => '$ref' in parameter)).toEqual([]);
  });

  test('has all operations, because no webhook shares their tags', () => {
    const tagsOf = (items: typeof paths) =>
      new Set(operationsIn(items).flatMap(({ operation }) => operation.tags));
    expect([...tagsOf(paths).intersection(tagsOf(webhooks))]).toEqual([]);
  });

  test('takes null where it may come, because no schema is extended by allOf that has a nullable property', () => {
    const extended = JSON.stringify([paths, components]).matchAll(
      /"allOf":\[\{"\$ref":"#\/components\/schemas\/(\w+)"/g,
    );
    const withNull = [...extended].filter(([, name = '']) =>
      JSON.stringify(components.schemas?.[name]).includes('"null"'),
    );
    expect(withNull).toEqual([]);
  });

  test('compiles in Java, because the enumeration of the items of a set is a schema of its own', () => {
    const sets = Object.entries(components.schemas ?? {}).filter(([, schema]) => {
      const { uniqueItems, items } = schema as { uniqueItems?: boolean; items?: object };
      return uniqueItems && items !== undefined && 'enum' in items;
    });
    expect(sets).toEqual([]);
  });
});
