// The examples of the OpenAPI document: every request, answer and webhook has one, and its own schema accepts it.
import { type FieldFault, invalidFields, UNAVAILABLE_MESSAGE } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import { keyKindMessage } from '../access/access.ts';
import { JSON_TYPE, PROBLEM_TYPE } from '../http/media-types.ts';
import { OVERLOADED_MESSAGE } from '../middleware/concurrency-limit.ts';
import { examplesOf, type MediaType } from './examples.ts';
import {
  type JsonObject,
  openApiDocument,
  operationsIn,
  resolveReference,
} from './openapi-document.ts';
import { operationsOf } from './operation.ts';
import { publishedDocument } from './published/published-document.ts';
import { closedSchemas } from './test-closed-schemas.ts';
import { compileValidators } from './validation.ts';

/** Words in descriptions that look like the code of an error and are none. */
const NOT_CODES = new Set(['destination_removed', 'grant_missing']);

const loaded = openApiDocument();
const operations = operationsOf(loaded);
const document = publishedDocument(loaded, operations);
const validators = compileValidators(document, operations);
const check = closedSchemas(document);

/** Everything of the document that has content: what it is, and its place. */
interface Part {
  what: string;
  at: string[];
  content: Record<string, MediaType>;
}

function partsOf(kind: 'paths' | 'webhooks'): Part[] {
  return operationsIn(document[kind]).flatMap(({ path, method, operation }) => {
    const { operationId: id, requestBody, responses } = operation;
    const at = [kind, path, method];
    const request = { what: `${id} request`, at: [...at, 'requestBody'], part: requestBody };
    const answers = Object.entries(responses).map(([status, response]) => ({
      what: `${id} ${status}`,
      ...referred([...at, 'responses', status], response),
    }));
    return [request, ...answers].flatMap(({ part, ...place }) => {
      const { content } = (part ?? {}) as Partial<Part>;
      return content === undefined ? [] : [{ ...place, content }];
    });
  });
}

function referred(at: string[], part: JsonObject | { $ref: string }) {
  const to = typeof part.$ref === 'string' ? part.$ref.split('/').slice(1) : at;
  return { at: to, part: resolveReference<object>(document, part) };
}

const parts = [...partsOf('paths'), ...partsOf('webhooks')];
const examples = parts.flatMap(({ what, at, content }) =>
  Object.entries(content).flatMap(([type, media]) =>
    examplesOf(document, media).map(({ name, value }) => ({
      what: `${what}, example ${name}`,
      schemaAt: [...at, 'content', type, 'schema'],
      value,
    })),
  ),
);

/** The errors in the JSON blocks of a text in Markdown. */
function errorsIn(text: string): JsonObject[] {
  const blocks = [...text.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => json);
  const values = blocks.flatMap((json) => [JSON.parse(json)].flat() as JsonObject[]);
  return values.filter((value) => 'code' in value);
}

describe('the examples of the OpenAPI document', () => {
  test('exist for every request, every answer with a JSON body, and every webhook', () => {
    const missing = parts
      .filter(({ content }) => content[JSON_TYPE] !== undefined)
      .filter(({ content }) => examplesOf(document, content[JSON_TYPE]).length === 0);
    expect(missing.map(({ what }) => what)).toEqual([]);
    expect(Object.keys(document.webhooks).length).toBeGreaterThanOrEqual(8);
  });

  test('are what their schemas describe, without a property that no schema names', () => {
    const wrong = examples.flatMap(({ what, schemaAt, value }) =>
      check(schemaAt, value).map((fault) => `${what}: ${fault}`),
    );
    expect(wrong).toEqual([]);
  });

  test('of requests are accepted by the validators of the gateway', () => {
    for (const { id, method, route } of operations) {
      const content = document.paths[route.replace('/v1', '')]?.[method]?.requestBody?.content;
      for (const { value } of examplesOf(document, content?.[JSON_TYPE])) {
        expect(() => validators.get(id)?.body(structuredClone(value)), id).not.toThrow();
      }
    }
  });

  test('of errors have the status of the answer that they are of', () => {
    const wrong = examples.filter(({ what, value }) => {
      const [, status = ''] = /^\w+ ([45]\d\d),/.exec(what) ?? [];
      return status !== '' && (value as JsonObject).status !== Number(status);
    });
    expect(wrong.map(({ what }) => what)).toEqual([]);
  });

  test('of errors say in their message, by the pointers, what is wrong with the fields', () => {
    const wrong = examples.filter(({ value }) => {
      const { errors, message, detail } = value as JsonObject;
      if (!Array.isArray(errors)) return false;
      const fields = errors as (FieldFault & { in?: string })[];
      return invalidFields('x', fields).message !== (message ?? detail);
    });
    expect(wrong.map(({ what }) => what)).toEqual([]);
  });

  test('of errors exist in both forms that a client may ask for', () => {
    const missing = parts.flatMap(({ what, content }) => {
      const [plain, problems] = [content[JSON_TYPE], content[PROBLEM_TYPE]].map((media) =>
        examplesOf(document, media),
      );
      if (problems === undefined || content[PROBLEM_TYPE] === undefined) return [];
      const titles = problems.map(({ value }) => (value as JsonObject).code);
      return (plain ?? [])
        .filter(({ value }) => !titles.includes((value as JsonObject).code as string))
        .map(({ name }) => `${what}, ${name}`);
    });
    expect(missing).toEqual([]);
  });

  test('of refusals that any operation may answer with have the messages that the gateway gives', () => {
    const messages = {
      key_kind_not_accepted: keyKindMessage('integration'),
      unavailable: UNAVAILABLE_MESSAGE,
      overloaded: OVERLOADED_MESSAGE,
    };
    const shared = Object.values(document.components.responses ?? {}) as unknown as Part[];
    const shown = shared
      .flatMap(({ content }) => examplesOf(document, content[JSON_TYPE]))
      .map(({ value }) => value as JsonObject)
      .filter(({ code }) => String(code) in messages);
    const wrong = shown.filter(
      ({ code, message }) => message !== Reflect.get(messages, String(code)),
    );
    expect(wrong).toEqual([]);
    expect(new Set(shown.map(({ code }) => code))).toEqual(new Set(Object.keys(messages)));
  });

  test('exist for every error code that the description of the document lists', () => {
    const { description } = document.info as { description: string };
    const rows = description.matchAll(/^\| \d[^|]*\|([^|]*)\|/gm);
    const codes = [...rows].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, code]) => code),
    );
    const shared = Object.values(document.components.responses ?? {});
    const all = JSON.stringify([examples, shared, errorsIn(description)]);
    expect(codes.length).toBeGreaterThan(40);
    expect(codes.filter((code) => !all.includes(`"code":"${code}"`))).toEqual([]);
  });

  test('of errors in the description of the document have the form that they show', () => {
    const { description } = document.info as { description: string };
    const errors = errorsIn(description);
    const faults = errors.flatMap((error) => {
      const schema = 'detail' in error ? 'Problem' : 'Error';
      return check(['components', 'schemas', schema], error);
    });
    expect(errors.length).toBeGreaterThan(4);
    expect(faults).toEqual([]);
  });

  test('exist for every parameter that a path has', () => {
    const without = operations.flatMap(({ id, parameters }) =>
      parameters
        .filter((parameter) => parameter.in === 'path' && !('example' in parameter))
        .map(({ name }) => `${id} ${name}`),
    );
    expect(without).toEqual([]);
  });

  test('of an operation have every error code that its description names', () => {
    const missing = operations.flatMap(({ id, method, route }) => {
      const described = document.paths[route.replace('/v1', '')]?.[method] as unknown as JsonObject;
      const named = String(described.description).matchAll(/`([a-z]+(?:_[a-z]+)+)`/g);
      const shown = examples.filter(({ what }) => what.startsWith(`${id} `));
      const codes = new Set(shown.map(({ value }) => (value as JsonObject | null)?.code));
      return [...named]
        .filter(([, code = '']) => !NOT_CODES.has(code) && !codes.has(code))
        .map(([, code]) => `${id} ${code}`);
    });
    expect(missing).toEqual([]);
  });
});
