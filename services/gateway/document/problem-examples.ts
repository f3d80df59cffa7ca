/** The examples of errors as problem details (RFC 9457), made from those in plain JSON. */
import { STATUS_CODES } from 'node:http';
import {
  type JsonObject,
  type JsonValue,
  type OpenApiDocument,
  type Reference,
  resolveReference,
} from './openapi-document.ts';

/** An error as it goes over the wire in plain JSON. */
interface ErrorBody {
  status: number;
  message: string;
}

/** The same error as problem details. */
export function problemOf({ status, message, ...more }: ErrorBody): object {
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail: message, ...more };
}

interface NamedExample {
  summary?: string;
  value: JsonValue;
}

interface Media {
  example?: JsonValue;
  examples?: Record<string, NamedExample | Reference>;
}

/** Gives a response that may come as problem details an example of these for each of its examples. */
export function addProblemExamples(
  document: OpenApiDocument,
  response: JsonObject | Reference,
): void {
  const { content = {} } = response as { content?: Record<string, Media> };
  const { 'application/json': plain, 'application/problem+json': problem } = content;
  if (plain === undefined || problem === undefined) return;
  const convert = (value: JsonValue) => problemOf(value as unknown as ErrorBody) as JsonValue;
  const examples = Object.entries(plain.examples ?? {}).map(([name, given]) => {
    const example = resolveReference<NamedExample>(document, given);
    return [name, { ...example, value: convert(example.value) }] as const;
  });
  content['application/problem+json'] = {
    ...problem,
    ...(plain.example !== undefined && { example: convert(plain.example) }),
    ...(examples.length > 0 && { examples: Object.fromEntries(examples) }),
  };
}
