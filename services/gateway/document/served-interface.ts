/** The interface that a gateway serves: the OpenAPI document, its operations, and what checks their requests. */
import { type OpenApiDocument, openApiDocument } from './openapi-document.ts';
import { type Operation, operationsOf } from './operation.ts';
import { compileValidators, type Validator } from './validation.ts';

export interface ServedInterface {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  /** By operation id. */
  readonly validators: ReadonlyMap<string, Validator>;
}

let loaded: ServedInterface | undefined;

/**
 * Reads and compiles the document at the first call, which takes half a second: gateways of one process share the result.
 * Throws an Error when an operation or a schema of the document cannot be used.
 */
export function servedInterface(): ServedInterface {
  if (loaded === undefined) {
    const document = openApiDocument();
    const operations = operationsOf(document);
    loaded = { document, operations, validators: compileValidators(document, operations) };
  }
  return loaded;
}
