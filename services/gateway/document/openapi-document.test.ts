import { describe, expect, test } from 'vitest';
import {
  type JsonObject,
  mergedSchema,
  openApiDocument,
  operationsIn,
} from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import type { ValueSchema } from './test-schema-values.ts';

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

/** The members and parameters with the name of an id that are not described as a UUID. */
function idsOtherThanUuids(part: unknown, place = ''): string[] {
  if (typeof part !== 'object' || part === null) return [];
  const { properties, name = '', schema } = part as JsonObject;
  const named = typeof schema === 'object' ? { [String(name)]: schema } : properties;
  const own = Object.entries((named ?? {}) as Record<string, JsonObject>)
    .map(([member, { items, ...it }]) => [member, (items ?? it) as JsonObject] as const)
    .filter(([member]) => /(?:^id|Ids?)$/.test(member) && !/request-?id$/i.test(member))
    .filter(([, it]) => it.$ref === undefined && it.format !== 'uuid')
    .map(([member]) => `${place}${member}`);
  const below = Object.entries(part).flatMap(([step, it]) => {
    return idsOtherThanUuids(it, /^[A-Z]/.test(step) ? `${step}.` : place);
  });
  return [...own, ...below];
}

test('every id is described as a UUID, but for those of requests and of others, and those that the specification has as text', () => {
  const { paths, webhooks, components } = openApiDocument();
  const found = new Set(idsOtherThanUuids([paths, webhooks, components]));
  expect([...found].sort()).toEqual([
    'CreditFile.id',
    'CreditFileMember.id',
    'CreditFileParty.id',
    'EquifaxCredentialsWrite.clientId',
    'ExportedVehicle.id',
    'Vehicle.id',
    // In the paths of credit files.
    'applicantId',
    'applicationId',
    'fileId',
  ]);
});

test('every text of a request has a format, a list of values, or a pattern of what it may hold', () => {
  const document = openApiDocument();
  const free = (given: ValueSchema, at: string): string[] => {
    const schema = mergedSchema(document, given);
    const { type, items, properties = {}, format, pattern, enum: values } = schema;
    const below = Object.entries(properties).flatMap(([name, it]) => free(it, `${at}.${name}`));
    const isFree = type === 'string' && !format && !pattern && !values;
    return [...(isFree ? [at] : []), ...below, ...(items === undefined ? [] : free(items, at))];
  };
  const texts = operationsOf(document).flatMap(({ id, body }) =>
    body === undefined ? [] : free(body.schema as ValueSchema, id),
  );
  expect(texts).toEqual([]);
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
