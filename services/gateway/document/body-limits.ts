/** How large the body of an operation may be: derived from its schema, so that every operation has a limit. */
import { MAX_BODY_BYTES } from '../http/json-body.ts';
import { type JsonObject, type OpenApiDocument, resolveReference } from './openapi-document.ts';

export interface BodyLimits {
  readonly maxBytes: number;
}

/** For white space, and for properties that the document does not describe, which are ignored. */
const UNDESCRIBED_BYTES = 64 * 1024;
/** Many clients escape all characters outside ASCII, as in "\u00e9". */
const BYTES_PER_CHARACTER = 6;
/** "-1.7976931348623157e+308" */
const BYTES_OF_NUMBER = 24;
/** The texts of these formats have one length, or a pattern that allows no longer ones. */
const BYTES_OF_FORMAT: Record<string, number> = { date: 12, uuid: 38 };

/** A schema, with the keywords that tell how long the text of its values can be. */
interface BoundedSchema {
  $ref?: string;
  type?: string;
  allOf?: BoundedSchema[];
  properties?: Record<string, BoundedSchema>;
  items?: BoundedSchema;
  maxItems?: number;
  maxLength?: number;
  format?: string;
  enum?: unknown[];
}

/**
 * The limits of a body: as many bytes as the longest values of all described properties need, and
 * UNDESCRIBED_BYTES, in whole 64 KiB, but at most MAX_BODY_BYTES. `schema` is the body's; an operation without
 * one ignores its body. Throws an Error for a string without maxLength and for an array without maxItems.
 */
export function bodyLimits(document: OpenApiDocument, schema: JsonObject | undefined): BodyLimits {
  const described = schema === undefined ? 0 : maxBytesOf(document, schema, 'the body');
  const step = 64 * 1024;
  const rounded = Math.ceil((described + UNDESCRIBED_BYTES) / step) * step;
  return { maxBytes: Math.min(rounded, MAX_BODY_BYTES) };
}

function maxBytesOf(document: OpenApiDocument, schema: BoundedSchema, name: string): number {
  const { $ref, allOf = [] } = schema;
  const parts = $ref === undefined ? allOf : [...allOf, resolveReference(document, { $ref })];
  const ofParts = parts.map((part) => maxBytesOf(document, part, name));
  return ofParts.reduce((sum, bytes) => sum + bytes, ownBytes(document, schema, name));
}

/** The bytes that the schema's own keywords allow, without its `$ref` and `allOf`. */
function ownBytes(document: OpenApiDocument, schema: BoundedSchema, name: string): number {
  const { type, properties = {}, items, maxItems } = schema;
  switch (type) {
    case undefined:
    case 'object':
      return Object.entries(properties).reduce(
        (sum, [key, property]) => sum + key.length + 4 + maxBytesOf(document, property, key),
        2,
      );
    case 'array':
      if (items === undefined || maxItems === undefined) throw new Error(`${name} has no maxItems`);
      return 2 + maxItems * (1 + maxBytesOf(document, items, name));
    case 'string':
      return bytesOfString(schema, name);
    default:
      return BYTES_OF_NUMBER;
  }
}

function bytesOfString({ format, maxLength, enum: values }: BoundedSchema, name: string): number {
  if (values !== undefined) return Math.max(...values.map((it) => JSON.stringify(it).length));
  if (maxLength !== undefined) return 2 + maxLength * BYTES_PER_CHARACTER;
  const bytes = BYTES_OF_FORMAT[format ?? ''];
  if (bytes === undefined) throw new Error(`${name} has no maxLength`);
  return bytes;
}
