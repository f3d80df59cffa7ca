/** The OpenAPI document as it is published: with what only its readers need. */
import {
  type DescribedOperation,
  HTTP_METHODS,
  type JsonObject,
  type OpenApiDocument,
  type PathItem,
} from '../openapi-document.ts';
import type { Operation } from '../operation.ts';
import { codeSamplesOf } from './code-samples.ts';
import { addProblemExamples } from './problem-examples.ts';

/**
 * A copy of the document with code samples of each operation, how large its body may be, and an example as
 * problem details for each example of an error, and without `x-needs`, which names services behind the gateway.
 */
export function publishedDocument(
  document: OpenApiDocument,
  operations: readonly Operation[],
): OpenApiDocument {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const { paths, components } = structuredClone({
    paths: document.paths,
    components: document.components,
  });
  for (const item of Object.values<PathItem>(paths)) {
    for (const method of HTTP_METHODS) {
      const described = item[method];
      const operation = byId.get(described?.operationId ?? '');
      if (described === undefined || operation === undefined) continue;
      Reflect.deleteProperty(described, 'x-needs');
      Object.assign(described, { 'x-codeSamples': codeSamplesOf(document, operation) });
      stateBodyLimit(described, operation);
      for (const it of Object.values(described.responses)) addProblemExamples(document, it);
    }
  }
  const shared = Object.values(components.responses ?? {}) as JsonObject[];
  for (const response of shared) addProblemExamples(document, response);
  return { ...document, paths, components };
}

function stateBodyLimit({ requestBody }: DescribedOperation, { bodyLimits }: Operation): void {
  if (requestBody === undefined) return;
  const limit = `At most ${bodyLimits.maxBytes / 1024} KiB.`;
  requestBody.description = [requestBody.description, limit].filter(Boolean).join(' ');
}
