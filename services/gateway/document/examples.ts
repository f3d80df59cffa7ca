/** The examples of requests and answers in the OpenAPI document. */
import {
  type JsonObject,
  type JsonValue,
  type OpenApiDocument,
  type Reference,
  resolveReference,
} from './openapi-document.ts';

/** The description of a body in one content type. */
export interface MediaType {
  schema: JsonObject;
  example?: JsonValue;
  examples?: Record<string, NamedExample | Reference>;
}

/** An example among several. */
export interface NamedExample {
  summary?: string;
  value: JsonValue;
}

/** The examples of a body; one without a name is called "example". */
export function examplesOf(
  document: OpenApiDocument,
  media: MediaType | undefined,
): { name: string; value: JsonValue }[] {
  const { example, examples = {} } = media ?? {};
  const named = Object.entries(examples).map(([name, given]) => {
    return { name, value: resolveReference<NamedExample>(document, given).value };
  });
  return example === undefined ? named : [{ name: 'example', value: example }, ...named];
}
