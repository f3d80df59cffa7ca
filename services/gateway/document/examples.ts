/** The examples of requests, answers and webhooks in the OpenAPI document. */
import { JSON_TYPE } from '../http/media-types.ts';
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

/** The example of each webhook, by its name, as JSON, which is also the payload of its test event. Throws an Error for a webhook without an example. */
export function webhookExamples({ webhooks }: OpenApiDocument): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(webhooks).map(([name, { post }]) => {
      const example = post?.requestBody?.content[JSON_TYPE]?.example;
      if (example === undefined) throw new Error(`the webhook ${name} has no example`);
      return [name, JSON.stringify(example)];
    }),
  );
}
