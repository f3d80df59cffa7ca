/** Holds requests against the OpenAPI document, by validators compiled once at start. */

import { invalid } from '@creditlane/rpc/fault';
import { isUuid } from '@creditlane/runtime/ids';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { DescribedParameter, JsonObject, OpenApiDocument } from './openapi-document.ts';
import type { Operation } from './operation.ts';
import { fieldErrors, refusalOfFields } from './validation-messages.ts';

/** A request's parameters as they came; a query parameter given more than once is a list. */
export interface RawParameters {
  path: Record<string, string>;
  query: Record<string, string | string[]>;
  /** By lower-case name. */
  header: Record<string, string | string[] | undefined>;
}

/** The parameters as the document types them; UUIDs in lower case, headers by lower-case name. */
export interface Parameters {
  path: Record<string, string>;
  query: Record<string, string | number | undefined>;
  header: Record<string, string | undefined>;
}

/** Checks the requests of one operation. */
export interface Validator {
  /** Throws an `invalid` Fault that names every parameter at fault. */
  parameters(raw: RawParameters): Parameters;
  /** Throws an `invalid` Fault that names every field at fault. */
  body(value: unknown): JsonObject | undefined;
}

const DOCUMENT_ID = 'https://creditlane.invalid/openapi.json';

/** Validators by operation id. Throws when a schema of the document cannot be compiled. */
export function compileValidators(
  document: OpenApiDocument,
  operations: readonly Operation[],
): ReadonlyMap<string, Validator> {
  const bodies = schemaCompiler(document, false);
  // Parameters are text: numbers are read from it, and defaults filled in.
  const parameters = schemaCompiler(document, true);
  return new Map(
    operations.map((operation) => [
      operation.id,
      {
        parameters: parameterCheck(operation.parameters, parameters),
        body: bodyCheck(operation.body, bodies),
      },
    ]),
  );
}

function schemaCompiler(document: OpenApiDocument, fromText: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    coerceTypes: fromText,
    useDefaults: fromText,
    strictTypes: false,
    messages: false,
  });
  formats.default(ajv, ['date', 'date-time', 'email']);
  // The library's own accepts a leading "urn:uuid:", which no service does.
  ajv.addFormat('uuid', isUuid);
  // The rest of an OpenAPI document says nothing about validity.
  ajv.addVocabulary([...Object.keys(document), 'example']);
  ajv.addSchema(document, DOCUMENT_ID);
  return ajv;
}

function bodyCheck(body: Operation['body'], ajv: Ajv2020): Validator['body'] {
  if (body === undefined) return () => undefined;
  const validate = ajv.compile({ $ref: DOCUMENT_ID + body.schemaAt });
  return (value) => {
    if (value === undefined) {
      if (body.required) throw invalid('body_missing', 'this operation needs a JSON body');
      return undefined;
    }
    if (!validate(value)) throw refusalOfFields(fieldErrors(validate.errors ?? []));
    return value as JsonObject;
  };
}

function parameterCheck(
  declared: readonly DescribedParameter[],
  ajv: Ajv2020,
): Validator['parameters'] {
  const headers = declared.filter((it) => it.in === 'header').map(({ name }) => name);
  const names = new Map(headers.map((name) => [name.toLowerCase(), name]));
  const ids = declared.filter(({ schema }) => schema.format === 'uuid');
  const validate: ValidateFunction = ajv.compile({
    type: 'object',
    properties: {
      path: objectOf(declared.filter((it) => it.in === 'path')),
      query: objectOf(declared.filter((it) => it.in === 'query')),
      header: objectOf(
        declared
          .filter((it) => it.in === 'header')
          .map((it) => ({ ...it, name: it.name.toLowerCase() })),
      ),
    },
  });
  return ({ path, query, header: all }) => {
    const header: RawParameters['header'] = {};
    for (const name of names.keys()) header[name] = all[name];
    const parameters = { path, query, header };
    if (!validate(parameters)) {
      throw refusalOfFields(
        fieldErrors(validate.errors ?? []).map(({ pointer, message }) => {
          const [, place = '', name = ''] = pointer.split('/');
          return { in: place, pointer: `/${names.get(name) ?? name}`, message };
        }),
      );
    }
    const checked = parameters as Parameters;
    for (const { in: place, name } of ids) {
      const key = place === 'header' ? name.toLowerCase() : name;
      const value = checked[place][key];
      if (typeof value === 'string') checked[place][key] = value.toLowerCase();
    }
    return checked;
  };
}

function objectOf(parameters: readonly DescribedParameter[]): JsonObject {
  const required = parameters.filter((it) => it.required === true).map(({ name }) => name);
  const properties = parameters.map(({ name, schema }) => [name, inDocument(schema)] as const);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

/** References in a schema taken out of the document must name the document. */
function inDocument(schema: JsonObject): JsonObject {
  const { $ref } = schema;
  return typeof $ref === 'string' ? { ...schema, $ref: DOCUMENT_ID + $ref } : schema;
}
