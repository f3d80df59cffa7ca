/** The OpenAPI document as it is published: with what only its readers need. */
import { HTTP_METHODS, type OpenApiDocument, type PathItem } from '../openapi-document.ts';
import type { Operation } from '../operation.ts';
import { codeSamplesOf } from './code-samples.ts';

/** A copy of the document with code samples of each operation. */
export function publishedDocument(
  document: OpenApiDocument,
  operations: readonly Operation[],
): OpenApiDocument {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const paths = structuredClone(document.paths);
  for (const item of Object.values<PathItem>(paths)) {
    for (const method of HTTP_METHODS) {
      const described = item[method];
      const operation = byId.get(described?.operationId ?? '');
      if (described === undefined || operation === undefined) continue;
      Object.assign(described, { 'x-codeSamples': codeSamplesOf(document, operation) });
    }
  }
  return { ...document, paths };
}
