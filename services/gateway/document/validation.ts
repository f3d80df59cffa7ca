/** Checks requests against the OpenAPI document, by validators compiled once at start. */
import { invalidFields } from '@creditlane/rpc/fault';
import { isUuid, NIL_UUID } from '@creditlane/runtime/ids';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { DataValidationCxt, SchemaValidateFunction } from 'ajv/dist/types/index.js';
import formats from 'ajv-formats';
import { memberNamesOf, memberReader, OTHER_NAMES } from './body-members.ts';
import type { DescribedParameter, JsonObject, OpenApiDocument } from './openapi-document.ts';
import type { Operation } from './operation.ts';
import { MAX_JSON_BYTES } from './operation-parts/body-limits.ts';
import type { Parameters, RawParameters } from './parameters.ts';
import { type FieldError, fieldErrors, shortPointerStep } from './validation-messages.ts';

/** Checks the requests of one operation. */
export interface Validator {
  /** Throws an `invalid` Fault that names every parameter at fault. */
  parameters(raw: RawParameters): Parameters;
  /**
   * UUIDs in `value` become lower case, and members that are null are taken out. Throws an `invalid` Fault that names every field
   * at fault.
   */
  body(value: unknown): unknown;
}

const DOCUMENT_ID = 'https://creditlane.invalid/openapi.json';
const LOWER_CASE = 'x-lower-case';
/** Marks the schema of an id that may be any text. One that is no UUID then names no record. */
const RECORD_ID = 'x-record-id';
/** Marks the schema of an amount or a rate: how many decimals it has at most. */
const DECIMALS = 'x-decimals';
/** What binary floating point adds to a sum of such numbers, and far less than anyone means: a millionth of a cent. */
const FLOAT_NOISE = 1e-8;
/** The end of a time such as "2026-03-31T14:30:00 02:00". */
const LOST_PLUS = /:\d\d(?:\.\d+)? \d\d:?\d\d$/;

/** Validators by operation id. Throws when a schema of the document cannot be compiled. */
export function compileValidators(
  document: OpenApiDocument,
  operations: readonly Operation[],
): ReadonlyMap<string, Validator> {
  const bodies = schemaCompiler(document, false);
  // Parameters are text: numbers are read from it, and defaults filled in.
  const parameters = schemaCompiler(document, true);
  const allNames = memberNamesOf(document);
  return new Map(
    operations.map((operation) => [
      operation.id,
      {
        parameters: parameterCheck(operation.parameters, parameters),
        body: bodyCheck(document, operation, bodies, allNames),
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
    // A number too large for a double is read as Infinity, which is beyond every maximum.
    strictNumbers: false,
    messages: false,
  });
  formats.default(ajv, ['date', 'date-time', 'email']);
  // The library's own format refuses what the services take and encode, such as "|" in a path.
  ajv.addFormat('uri', URL.canParse);
  // The library's own format accepts a leading "urn:uuid:", which no service accepts.
  ajv.addFormat('uuid', isUuid);
  ajv.addKeyword({ keyword: LOWER_CASE, type: 'string', modifying: true, validate: lowerCase });
  ajv.addKeyword({ keyword: RECORD_ID, type: 'string', modifying: true, validate: recordId });
  ajv.addKeyword({
    ...{ keyword: DECIMALS, type: 'number', modifying: true, errors: true },
    validate: roundToDecimals,
  });
  // ajv in strict mode refuses unknown keywords; those of OpenAPI do not affect validity, and the service that takes an
  // object with any properties measures it.
  ajv.addVocabulary([...Object.keys(document), 'example', MAX_JSON_BYTES, OTHER_NAMES]);
  ajv.addSchema(markUuids(document) as OpenApiDocument, DOCUMENT_ID);
  return ajv;
}

/** A copy of a part of the document in which every schema of a UUID carries the keyword LOWER_CASE. */
function markUuids(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(markUuids);
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([name, member]) => [name, markUuids(member)] as const);
  if ('format' in part && part.format === 'uuid') entries.push([LOWER_CASE, true]);
  return Object.fromEntries(entries);
}

/** UUIDs may come in either case; access compares them as text, and the digest of a repeated request is of the text. */
function lowerCase(_: true, text: string, __: unknown, at?: DataValidationCxt): true {
  if (at !== undefined) at.parentData[at.parentDataProperty] = text.toLowerCase();
  return true;
}

/** The services take UUIDs alone. They answer the nil UUID like any other unknown id. */
function recordId(_: true, text: string, __: unknown, at?: DataValidationCxt): true {
  const id = isUuid(text) ? text.toLowerCase() : NIL_UUID;
  if (at !== undefined) at.parentData[at.parentDataProperty] = id;
  return true;
}

/**
 * `0.1 + 0.2` is 0.30000000000000004 in most languages: the noise is taken away, so that no webhook has it. More decimals than
 * that are refused: nobody can pay them.
 */
const roundToDecimals: SchemaValidateFunction = (
  decimals: number,
  number: number,
  _?: unknown,
  at?: DataValidationCxt,
) => {
  const rounded = Number(number.toFixed(decimals));
  if (Math.abs(number - rounded) > FLOAT_NOISE) {
    roundToDecimals.errors = [{ keyword: DECIMALS, params: { limit: decimals } }];
    return false;
  }
  if (at !== undefined) at.parentData[at.parentDataProperty] = rounded;
  return true;
};

function bodyCheck(
  document: OpenApiDocument,
  { body, unprocessable }: Operation,
  ajv: Ajv2020,
  allNames: ReadonlySet<string>,
): Validator['body'] {
  if (body === undefined) return () => undefined;
  const readMembers = memberReader(document, body.schema, allNames);
  const validate = ajv.compile({ $ref: DOCUMENT_ID + body.schemaAt });
  return (value) => {
    if (value === undefined) {
      if (!body.required) return undefined;
      throw invalidFields('body_missing', [{ pointer: '', message: 'is required, as JSON' }]);
    }
    const refused = readMembers(value);
    const errors = validate(value) ? [] : (validate.errors ?? []);
    if (errors.length === 0 && refused.length === 0) return value;
    const isUnprocessable =
      refused.length === 0 &&
      errors.every(({ instancePath }) => unprocessable.includes(instancePath));
    const code = isUnprocessable ? 'unprocessable_value' : 'invalid_request';
    throw invalidFields(code, withoutRepeated(refused, fieldErrors(errors)));
  };
}

function parameterCheck(
  declared: readonly DescribedParameter[],
  ajv: Ajv2020,
): Validator['parameters'] {
  const headers = declared.filter((parameter) => parameter.in === 'header');
  const names = new Map(headers.map(({ name }) => [name.toLowerCase(), name]));
  const queries = declared.filter((parameter) => parameter.in === 'query');
  const unknownIn = unknownParameters(queries.map(({ name }) => name));
  const validate: ValidateFunction = ajv.compile({
    type: 'object',
    properties: {
      path: objectOf(declared.filter((parameter) => parameter.in === 'path')),
      query: objectOf(queries),
      header: objectOf(headers.map((header) => ({ ...header, name: header.name.toLowerCase() }))),
    },
  });
  return ({ path, query, header: all }) => {
    const header: RawParameters['header'] = {};
    for (const name of names.keys()) header[name] = all[name];
    const parameters = { path, query, header };
    const refused = [
      ...unknownIn(query),
      ...repeatedOf(queries, query),
      ...notInDigits(queries, query),
      ...withoutPlus(queries, query),
      ...withNul('path', path),
      ...withNul('query', query),
    ];
    const isValid = validate(parameters);
    if (isValid && refused.length === 0) return parameters as Parameters;
    const wrong = fieldErrors(isValid ? [] : (validate.errors ?? [])).map(
      ({ pointer, message }) => {
        const [, kind = '', name = ''] = pointer.split('/');
        return { in: kind, pointer: `/${names.get(name) ?? name}`, message };
      },
    );
    throw invalidFields('invalid_request', withoutRepeated(refused, wrong));
  };
}

/** Both lists, without what the second one says of a field that the first one names. */
function withoutRepeated(refused: readonly FieldError[], wrong: readonly FieldError[]) {
  const isRefused = (it: FieldError) =>
    refused.some(({ in: kind, pointer }) => kind === it.in && pointer === it.pointer);
  return [...refused, ...wrong.filter((it) => !isRefused(it))];
}

/** Names the declared query parameters that come twice: no operation has one with several values. */
function repeatedOf(
  declared: readonly DescribedParameter[],
  query: RawParameters['query'],
): FieldError[] {
  return declared
    .filter(({ name }) => Array.isArray(query[name]))
    .map(({ name }) => ({ in: 'query', pointer: `/${name}`, message: 'is given more than once' }));
}

/** Names the whole numbers that are not written in digits alone: ajv reads "0x10", "1e1" and " 1" as numbers, too. */
function notInDigits(
  declared: readonly DescribedParameter[],
  query: RawParameters['query'],
): FieldError[] {
  return declared
    .filter(({ name, schema }) => {
      const text = query[name];
      return schema.type === 'integer' && typeof text === 'string' && !/^-?\d+$/.test(text);
    })
    .map(({ name }) => ({ in: 'query', pointer: `/${name}`, message: 'must be a whole number' }));
}

/** Names the times whose offset has lost its `+`: in a query it is a space, unless it is encoded. */
function withoutPlus(
  declared: readonly DescribedParameter[],
  query: RawParameters['query'],
): FieldError[] {
  const message = 'has a space where a + was: write it as %2B';
  return declared
    .filter(({ name, schema }) => {
      const text = query[name];
      return schema.format === 'date-time' && typeof text === 'string' && LOST_PLUS.test(text);
    })
    .map(({ name }) => ({ in: 'query', pointer: `/${name}`, message }));
}

/** Names the parameters with U+0000, which PostgreSQL cannot store. */
function withNul(kind: string, values: RawParameters['path'] | RawParameters['query']) {
  return Object.entries(values)
    .filter(([, value]) => [value].flat().some((text) => text?.includes('\0')))
    .map(([name]) => ({ in: kind, pointer: `/${name}`, message: 'must not contain U+0000' }));
}

/** Makes the function that finds the query parameters with other names than these. */
function unknownParameters(known: readonly string[]) {
  const message =
    known.length === 0
      ? 'is unknown: this operation has no query parameters'
      : `is unknown: the query parameters of this operation are ${known.join(', ')}`;
  return (query: RawParameters['query']): FieldError[] =>
    Object.keys(query)
      .filter((name) => !known.includes(name))
      .map((name) => ({ in: 'query', pointer: `/${shortPointerStep(name)}`, message }));
}

function objectOf(parameters: readonly DescribedParameter[]): JsonObject {
  const required = parameters.filter((it) => it.required === true).map(({ name }) => name);
  const properties = parameters.map(({ name, schema }) => [name, ownSchema(schema)] as const);
  return { type: 'object', required, properties: Object.fromEntries(properties) };
}

/** A schema for use outside the document: its references name the document. */
function ownSchema(schema: JsonObject): JsonObject {
  const { $ref } = schema;
  const marked = markUuids(schema) as JsonObject;
  return typeof $ref === 'string' ? { ...marked, $ref: DOCUMENT_ID + $ref } : marked;
}
