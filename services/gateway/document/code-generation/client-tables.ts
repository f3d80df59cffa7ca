/** What libs/client knows of the OpenAPI document while it runs: its operations and its webhooks. */
import { JSON_TYPE } from '../../http/media-types.ts';
import {
  type DescribedOperation,
  type DescribedParameter,
  type JsonObject,
  type OpenApiDocument,
  operationsIn,
  type PathItem,
  resolveReference,
} from '../openapi-document.ts';

/** The source text of libs/client/gen/tables.ts. Throws an Error naming what the document lacks. */
export function clientTables(document: OpenApiDocument): string {
  const operations = operationsIn(document.paths).map(({ path, method, operation, ...given }) => {
    const parameters = given.parameters.map((it) => resolveReference(document, it));
    const pageSize = pageSizeOf(parameters);
    const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key');
    const accept = acceptOf(document, operation);
    const entry = {
      method: method.toUpperCase(),
      path,
      ...(pageSize && { pageSize }),
      ...(takesKey && { takesKey }),
      ...(accept && { accept }),
    };
    return [operation.operationId, entry];
  });
  const webhooks = Object.entries(document.webhooks).map(([name, item]) => [
    name,
    webhookEntry(document, name, item),
  ]);
  return [
    tableText(
      'OPERATIONS',
      'Method and path by operationId, the largest page of a list, and whether the operation takes an Idempotency-Key.',
      operations,
    ),
    tableText(
      'WEBHOOKS',
      'By event: the header of its hex signature, and what tells its payload from the others.',
      webhooks,
    ),
  ].join('\n');
}

/** The content type of the operation's successes, where it is not JSON. */
function acceptOf(
  document: OpenApiDocument,
  { responses }: DescribedOperation,
): string | undefined {
  const types = Object.entries(responses).flatMap(([status, response]) =>
    status.startsWith('2')
      ? Object.keys(resolveReference<JsonObject>(document, response).content ?? {})
      : [],
  );
  return types.includes(JSON_TYPE) ? undefined : types[0];
}

/** The most records that a page may hold; undefined when the operation is not a list with cursors. */
function pageSizeOf(parameters: readonly DescribedParameter[]): number | undefined {
  const limit = parameters.find((it) => it.in === 'query' && it.name === 'limit');
  const isPaged = parameters.some((it) => it.in === 'query' && it.name === 'cursor');
  return isPaged ? Number(limit?.schema.maximum) : undefined;
}

function webhookEntry(document: OpenApiDocument, name: string, { post }: PathItem): object {
  const headers = (post?.parameters ?? []).map((it) => resolveReference(document, it).name);
  const signatureHeader = headers.find((header) => /^X-.*-SIGNATURE$/.test(header));
  const schema = post?.requestBody?.content[JSON_TYPE]?.schema;
  if (signatureHeader === undefined || schema === undefined) {
    throw new Error(`the webhook ${name} has no signature header or no JSON body`);
  }
  const { status, required } = distinction(document, schema);
  return { signatureHeader, ...(status === undefined ? { required: [...required] } : { status }) };
}

/** The constant `status` of an object's schema and its required properties, `allOf` included. */
function distinction(
  document: OpenApiDocument,
  given: JsonObject,
): { status: unknown; required: Set<unknown> } {
  const schema = resolveReference<JsonObject>(document, given);
  const parts = ((schema.allOf ?? []) as JsonObject[]).map((part) => distinction(document, part));
  const own = (schema.properties as Record<string, JsonObject> | undefined)?.status?.const;
  return {
    status: own ?? parts.find(({ status }) => status !== undefined)?.status,
    required: new Set([
      ...((schema.required ?? []) as unknown[]),
      ...parts.flatMap(({ required }) => [...required]),
    ]),
  };
}

function tableText(name: string, about: string, entries: unknown[][]): string {
  const lines = entries.map(([key, value]) => `  ${key}: ${JSON.stringify(value)},\n`);
  return `/** ${about} */\nexport const ${name} = {\n${lines.join('')}} as const;\n`;
}
