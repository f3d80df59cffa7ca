/** Which operations may have a large answer, by the schemas of their answers. */
import { type JsonObject, type OpenApiDocument, resolveReference } from '../openapi-document.ts';

type Parts = { properties?: Record<string, JsonObject> } & {
  [Keyword in 'allOf' | 'oneOf' | 'anyOf']?: JsonObject[];
};

/** Whether a value of the schema may hold a list. */
export function mayHoldList(
  document: OpenApiDocument,
  schema: JsonObject,
  // A schema may refer to itself.
  seen: ReadonlySet<unknown> = new Set(),
): boolean {
  const found = resolveReference<JsonObject>(document, schema);
  if (seen.has(found)) return false;
  if ([found.type].flat().includes('array')) return true;
  const { properties, allOf, oneOf, anyOf } = found as Parts;
  const parts = [Object.values(properties ?? {}), allOf ?? [], oneOf ?? [], anyOf ?? []].flat();
  return parts.some((part) => mayHoldList(document, part, new Set([...seen, found])));
}
