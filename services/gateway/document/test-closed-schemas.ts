/** For tests: checks values against schemas of the OpenAPI document, and refuses what these do not describe. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApiDocument } from './openapi-document.ts';
import { fragment } from './operation.ts';

const DOCUMENT_ID = 'https://creditlane.invalid/closed.json';
const UUID_IN_LOWER_CASE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Checks a value against the schema at a place of the document. Returns what is wrong, or nothing. */
export type CheckValue = (schemaAt: readonly string[], value: unknown) => string[];

/**
 * Makes the check of a document. Properties that a schema does not name are wrong, unless it allows them by
 * `additionalProperties`. `fromText` reads numbers from text, as for headers.
 */
export function closedSchemas(document: OpenApiDocument, { fromText = false } = {}): CheckValue {
  const ajv = new Ajv2020({ allErrors: true, strict: false, coerceTypes: fromText });
  formats.default(ajv, ['date', 'date-time', 'email', 'uri']);
  ajv.addFormat('uuid', UUID_IN_LOWER_CASE);
  ajv.addSchema(closeUses(document) as OpenApiDocument, DOCUMENT_ID);
  const compiled = new Map<string, ValidateFunction>();
  return (schemaAt, value) => {
    const $ref = DOCUMENT_ID + fragment(...schemaAt);
    const validate =
      compiled.get($ref) ?? ajv.compile({ type: 'object', properties: { value: { $ref } } });
    compiled.set($ref, validate);
    if (validate({ value })) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      const { unevaluatedProperty: name = '' } = params;
      return `${instancePath.replace('/value', '') || '/'} ${message} ${name}`.trim();
    });
  };
}

/**
 * A copy of a part of the document in which each schema is closed where a value has it. The members of an
 * `allOf`, and the schemas that are only referred to, stay open: several of them describe one value.
 */
function closeUses(part: unknown, name = ''): unknown {
  if (Array.isArray(part)) return part.map((member) => closeUses(member, name));
  if (typeof part !== 'object' || part === null) return part;
  const entries = Object.entries(part).map(([key, member]) => {
    const closed = name === 'properties' || key === 'schema' || key === 'items';
    const copy = key.startsWith('example') ? member : closeUses(member, key);
    return [key, closed ? closedSchema(copy) : copy];
  });
  return Object.fromEntries(entries);
}

function closedSchema(schema: unknown): unknown {
  const isClosable = typeof schema === 'object' && schema !== null && !Array.isArray(schema);
  if (!isClosable || 'additionalProperties' in schema) return schema;
  return { ...schema, unevaluatedProperties: false };
}
