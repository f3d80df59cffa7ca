/** The example of each webhook in the OpenAPI document, which is also the payload of its test event. */
import type { OpenApiDocument } from './openapi-document.ts';

/** By the name of the webhook, its payload as JSON. Throws an Error for a webhook without an example. */
export function webhookExamples({ webhooks }: OpenApiDocument): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(webhooks).map(([name, { post }]) => {
      const example = post?.requestBody?.content['application/json']?.example;
      if (example === undefined) throw new Error(`the webhook ${name} has no example`);
      return [name, JSON.stringify(example)];
    }),
  );
}
