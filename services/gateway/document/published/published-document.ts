/** The OpenAPI document as it is published: with what only its readers need. */
import { type PlainError, problemOf } from '../../errors.ts';
import { JSON_TYPE, PROBLEM_TYPE } from '../../http/media-types.ts';
import type { MediaType, NamedExample } from '../examples.ts';
import {
  type DescribedOperation,
  type JsonObject,
  type JsonValue,
  type OpenApiDocument,
  operationsIn,
  type Reference,
  resolveReference,
} from '../openapi-document.ts';
import type { Operation } from '../operation.ts';
import { codeSamplesOf } from './code-samples.ts';

/**
 * A copy of the document with the server's path as its clients see it, code samples of each operation, how large its body may be,
 * and an example as problem details for each example of an error, and without `x-needs`, which names services behind the gateway.
 */
export function publishedDocument(
  document: OpenApiDocument,
  operations: readonly Operation[],
  publicPath = '',
): OpenApiDocument {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const { paths, components } = structuredClone({
    paths: document.paths,
    components: document.components,
  });
  for (const { operation: described } of operationsIn(paths)) {
    const operation = byId.get(described.operationId);
    if (operation === undefined) continue;
    Reflect.deleteProperty(described, 'x-needs');
    Object.assign(described, { 'x-codeSamples': codeSamplesOf(document, operation) });
    stateBodyLimit(described, operation);
    for (const it of Object.values(described.responses)) addProblemExamples(document, it);
  }
  const shared = Object.values(components.responses ?? {}) as JsonObject[];
  for (const response of shared) addProblemExamples(document, response);
  const servers = document.servers.map((it) => ({ ...it, url: publicPath + it.url }));
  return { ...document, servers, paths, components };
}

function stateBodyLimit({ requestBody }: DescribedOperation, { bodyLimits }: Operation): void {
  if (requestBody === undefined) return;
  const limit = `At most ${bodyLimits.maxBytes / 1024} KiB.`;
  requestBody.description = [requestBody.description, limit].filter(Boolean).join(' ');
}

/** Gives a response that may come as problem details an example of these (RFC 9457) for each of its examples in plain JSON. */
function addProblemExamples(document: OpenApiDocument, response: JsonObject | Reference): void {
  const { content = {} } = response as { content?: Record<string, MediaType> };
  const { [JSON_TYPE]: plain, [PROBLEM_TYPE]: problem } = content;
  if (plain === undefined || problem === undefined) return;
  const convert = (value: JsonValue) => problemOf(value as unknown as PlainError) as JsonValue;
  const examples = Object.entries(plain.examples ?? {}).map(([name, given]) => {
    const example = resolveReference<NamedExample>(document, given);
    return [name, { ...example, value: convert(example.value) }] as const;
  });
  content[PROBLEM_TYPE] = {
    ...problem,
    ...(plain.example !== undefined && { example: convert(plain.example) }),
    ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
  };
}
