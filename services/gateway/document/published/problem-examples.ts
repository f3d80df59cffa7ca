/** The examples of errors as problem details (RFC 9457), made from those in plain JSON. */
import { type PlainError, problemOf } from '../../errors.ts';
import { JSON_TYPE, PROBLEM_TYPE } from '../../http/media-types.ts';
import type { MediaType, NamedExample } from '../examples.ts';
import {
  type JsonObject,
  type JsonValue,
  type OpenApiDocument,
  type Reference,
  resolveReference,
} from '../openapi-document.ts';

/** Gives a response that may come as problem details an example of these for each of its examples. */
export function addProblemExamples(
  document: OpenApiDocument,
  response: JsonObject | Reference,
): void {
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
