/** How much the body of an operation may hold: derived from its schema, so that no operation lacks a limit. */
import { MAX_BODY_BYTES } from '../../http/json-body.ts';
import type { JsonLimits, JsonShape } from '../../http/json-text.ts';
import { type JsonObject, type OpenApiDocument, resolveReference } from '../openapi-document.ts';

export interface BodyLimits extends JsonLimits {
  readonly maxBytes: number;
}

/** For white space, and for properties that the document does not describe, which are ignored. */
const UNDESCRIBED_BYTES = 64 * 1024;
/** As many as fit into UNDESCRIBED_BYTES with 16 bytes for each. */
const UNDESCRIBED_VALUES = 4_096;
/** Many clients escape all characters outside ASCII, as in "\u00e9". */
const BYTES_PER_CHARACTER = 6;
/** "-1.7976931348623157e+308" */
const BYTES_OF_NUMBER = 24;
/** The keyword of an object with any properties: how many bytes its JSON text may have, without white space. */
export const MAX_JSON_BYTES = 'x-max-json-bytes';
/** "é" and "🚗" take two and four bytes, and as escape sequences 6 and 12. */
const ESCAPED_PER_BYTE = 3;
/** A value takes a byte, and another one the comma before it. */
const BYTES_PER_VALUE = 2;
/** The texts of these formats have one length. */
const BYTES_OF_FORMAT: Record<string, number> = { date: 12, uuid: 38 };

/** A schema, reduced to the keywords that limit how much its values hold. */
interface BoundedSchema {
  $ref?: string;
  type?: string;
  allOf?: BoundedSchema[];
  properties?: Record<string, BoundedSchema>;
  items?: BoundedSchema;
  maxItems?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
  enum?: unknown[];
  additionalProperties?: boolean;
  [MAX_JSON_BYTES]?: number;
}

/** How much the values of a schema hold at most. */
interface Extent {
  readonly bytes: number;
  readonly values: number;
  readonly shape: JsonShape | undefined;
}

/**
 * The limits of a body: as much as the longest values of all described properties need, and as much again
 * for others as UNDESCRIBED_BYTES and UNDESCRIBED_VALUES say. Bytes are in whole 64 KiB, at most
 * MAX_BODY_BYTES. `schema` is the body's; an operation without one ignores its body. Throws an Error for a
 * string without maxLength, a number without maximum or minimum, an array without maxItems, and an object with any
 * properties without MAX_JSON_BYTES.
 */
export function bodyLimits(
  document: OpenApiDocument,
  schema: JsonObject | undefined = { type: 'object' },
): BodyLimits {
  const { bytes, values, shape } = extentOf(document, schema, 'the body');
  const step = 64 * 1024;
  const rounded = Math.ceil((bytes + UNDESCRIBED_BYTES - 2) / step) * step;
  return {
    maxBytes: Math.min(rounded, MAX_BODY_BYTES),
    maxValues: values + UNDESCRIBED_VALUES,
    shape,
  };
}

function extentOf(document: OpenApiDocument, schema: BoundedSchema, name: string): Extent {
  const { $ref, allOf = [] } = schema;
  const parts = $ref === undefined ? allOf : [...allOf, resolveReference(document, { $ref })];
  return parts
    .map((part) => extentOf(document, part, name))
    .reduce(combined, ownExtent(document, schema, name));
}

/** What the schema's own keywords allow, without its `$ref` and `allOf`. */
function ownExtent(document: OpenApiDocument, schema: BoundedSchema, name: string): Extent {
  const { type, properties = {}, items, maxItems, minimum, maximum } = schema;
  switch (type) {
    case undefined:
    case 'object':
      return schema.additionalProperties
        ? extentOfAnyJson(schema, name)
        : extentOfObject(document, properties);
    case 'array': {
      if (items === undefined || maxItems === undefined) throw new Error(`${name} has no maxItems`);
      const item = extentOf(document, items, name);
      return {
        bytes: 2 + maxItems * (1 + item.bytes),
        values: 1 + maxItems * item.values,
        shape: { maxItems, items: item.shape },
      };
    }
    case 'string':
      return { bytes: bytesOfString(schema, name), values: 1, shape: undefined };
    default:
      if (type !== 'boolean' && (minimum === undefined || maximum === undefined)) {
        throw new Error(`${name} has no minimum or no maximum`);
      }
      return { bytes: BYTES_OF_NUMBER, values: 1, shape: undefined };
  }
}

function extentOfAnyJson({ [MAX_JSON_BYTES]: maxBytes }: BoundedSchema, name: string): Extent {
  if (maxBytes === undefined) throw new Error(`${name} has no ${MAX_JSON_BYTES}`);
  const values = maxBytes / BYTES_PER_VALUE;
  return { bytes: maxBytes * ESCAPED_PER_BYTE, values, shape: undefined };
}

function extentOfObject(
  document: OpenApiDocument,
  properties: Record<string, BoundedSchema>,
): Extent {
  const shapes = new Map<string, JsonShape>();
  let bytes = 2;
  let values = 1;
  for (const [name, property] of Object.entries(properties)) {
    const extent = extentOf(document, property, name);
    // A quoted name, a colon and a comma.
    bytes += name.length + 4 + extent.bytes;
    values += extent.values;
    if (extent.shape !== undefined) shapes.set(name, extent.shape);
  }
  return { bytes, values, shape: shapes.size === 0 ? undefined : { properties: shapes } };
}

function bytesOfString({ format, maxLength, enum: values }: BoundedSchema, name: string): number {
  if (values !== undefined) return Math.max(...values.map((it) => JSON.stringify(it).length));
  if (maxLength !== undefined) return 2 + maxLength * BYTES_PER_CHARACTER;
  const bytes = BYTES_OF_FORMAT[format ?? ''];
  if (bytes === undefined) throw new Error(`${name} has no maxLength`);
  return bytes;
}

/** The extent of two schemas that describe one value. */
function combined(one: Extent, other: Extent): Extent {
  return {
    bytes: one.bytes + other.bytes,
    values: one.values + other.values,
    shape: combinedShape(one.shape, other.shape),
  };
}

function combinedShape(
  one: JsonShape | undefined,
  other: JsonShape | undefined,
): JsonShape | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const properties = new Map([...(one.properties ?? []), ...(other.properties ?? [])]);
  return { ...one, ...other, properties };
}
