import { expect, test } from 'vitest';
import { type JsonObject, openApiDocument } from './openapi-document.ts';

const document = openApiDocument();

test('the example of an export has every property of its schema', () => {
  const { schema, example } = contentOf('applicationExported');
  expect(absentProperties(schema, example)).toEqual([
    '/coApplicant/addressHistory',
    '/coApplicant/employmentHistory',
  ]);
});

interface DescribedContent {
  schema: JsonObject;
  example?: unknown;
}

function contentOf(webhook: string): DescribedContent {
  const { content = {} } = document.webhooks[webhook]?.post?.requestBody ?? {};
  const described = content['application/json'];
  if (described === undefined) throw new Error(`${webhook} has no body`);
  return described;
}

/** The properties of the schema that the example lacks, and the lists without an item in it. */
function absentProperties(described: JsonObject, example: unknown, path = ''): string[] {
  const schema = withoutReference(described);
  if (schema.type === 'array') {
    const [item] = example as unknown[];
    return item === undefined ? [path] : absentProperties(schema.items as JsonObject, item, path);
  }
  const [alternative] = (schema.anyOf ?? []) as JsonObject[];
  if (alternative) return absentProperties(alternative, example, path);
  return Object.entries((schema.properties ?? {}) as Record<string, JsonObject>).flatMap(
    ([name, property]) => {
      const value = (example as JsonObject)[name];
      return value === undefined
        ? [`${path}/${name}`]
        : absentProperties(property, value, `${path}/${name}`);
    },
  );
}

function withoutReference(schema: JsonObject): JsonObject {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref))?.[1];
  return name === undefined ? schema : (document.components.schemas?.[name] as JsonObject);
}
