/** For tests: generates values that a schema of the OpenAPI document accepts, and the same with one mistake. */
import fc from 'fast-check';
import { mergedSchema, type OpenApiDocument } from './openapi-document.ts';

/** The keywords that values are made from. */
export interface ValueSchema {
  $ref?: string;
  type?: string;
  allOf?: ValueSchema[];
  properties?: Record<string, ValueSchema>;
  required?: string[];
  items?: ValueSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  uniqueItems?: boolean;
  additionalProperties?: boolean;
  'x-decimals'?: number;
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
}

type Member = [name: string, values: fc.Arbitrary<unknown>];

const MAX_ITEMS = 3;
const MAX_CHARACTERS = 300;
/** One code point each, because schemas count these. U+0000 is refused everywhere. */
const CHARACTER = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
  fc.constantFrom('é', '🚗', '\u2028', '\t', '\u0001'),
);
/** Values of no described type, or of another one. */
const WRONG = [null, true, 0, -1.5, '', 'x', [], {}, [[]], { '': 0 }, 1e308, '\u2028', '🚗'];

/** No member has a name near to it. */
const UNKNOWN_NAME = 'x-of-the-client';

interface ValueOptions {
  /** By name: the values of properties that name records. Such a property is always present. */
  known?: Record<string, unknown>;
  /** Whether every optional property is present, and every array has an item. */
  complete?: boolean;
  /** Whether optional properties may be null, and objects have a property that the schema does not name: as bodies may. */
  loose?: boolean;
}

/** Values that the schema accepts. */
export function validValues(
  document: OpenApiDocument,
  given: ValueSchema,
  options: ValueOptions = {},
): fc.Arbitrary<unknown> {
  const { known = {}, complete = false, loose = false } = options;
  const schema = mergedSchema(document, given);
  const { type, properties = {}, required = [], items, additionalProperties } = schema;
  const { enum: values, minimum, maximum } = schema;
  const names = Object.keys(properties);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (values !== undefined) return fc.constantFrom(...values);
  switch (type) {
    case 'array': {
      const { minItems: minLength = complete ? 1 : 0, maxItems = MAX_ITEMS, uniqueItems } = schema;
      const maxLength = Math.max(minLength, Math.min(maxItems, MAX_ITEMS));
      const item = validValues(document, items ?? {}, options);
      return uniqueItems === true
        ? fc.uniqueArray(item, { minLength, maxLength })
        : fc.array(item, { minLength, maxLength });
    }
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: minimum ?? -1000, max: maximum ?? 1000 });
    case 'number':
      return fc
        .double({ min: minimum ?? -1e9, max: maximum ?? 1e9, noNaN: true })
        .map((number) => Number(number.toFixed(schema['x-decimals'] ?? 20)));
    case 'string':
      return validStrings(schema);
    default: {
      const members = Object.entries(properties).map(([name, property]): Member => {
        if (name in known) return [name, fc.constant(known[name])];
        const value = validValues(document, property, options);
        const isNullable = loose && !required.includes(name);
        return [name, isNullable ? fc.option(value, { nil: null, freq: 10 }) : value];
      });
      if (loose && names.length > 0 && additionalProperties !== false) {
        members.push([UNKNOWN_NAME, fc.oneof(fc.jsonValue(), fc.constantFrom(...WRONG))]);
      }
      const requiredKeys = complete
        ? names
        : names.filter((name) => required.includes(name) || name in known);
      const model: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(members);
      return fc.record(model, { requiredKeys, noNullPrototype: true });
    }
  }
}

function validStrings({ format, pattern, minLength = 0, maxLength }: ValueSchema) {
  switch (format) {
    case 'uuid':
      return fc.uuid();
    case 'email':
      return fc.constantFrom('maya@example.com', 'm.t+1@sub.example.org');
    case 'uri':
      return fc.constantFrom('https://bureau.example.com', 'https://a.example.org:8443/path?x=1');
    case 'date':
      return fc
        .date({ min: new Date('1901-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString().slice(0, 10))
        .filter((date) => new RegExp(pattern ?? '').test(date));
    case 'date-time':
      return fc
        .date({ min: new Date('1901-01-01'), max: new Date('2099-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString());
    default:
  }
  if (pattern !== undefined && !isText(pattern)) {
    const most = Math.max(minLength, Math.min(maxLength ?? 60, 60));
    return fc.stringMatching(new RegExp(pattern), { maxLength: most });
  }
  const most = Math.max(minLength, Math.min(maxLength ?? MAX_CHARACTERS, MAX_CHARACTERS));
  const accepted = new RegExp(pattern ?? '', 'u');
  return fc.string({ unit: CHARACTER, minLength, maxLength: most }).map((text) => {
    const line = accepted.test(text) ? text : text.replaceAll(/[\p{Cc}\u2028]/gu, 'x');
    return accepted.test(line) ? line : 'x'.repeat(Math.max(1, minLength));
  });
}

/** Whether a pattern only excludes characters of any text. */
export function isText(pattern: string): boolean {
  return pattern.includes('\\x00');
}

/** A value of another type, or one that no rule of the schema's would accept, anywhere in a valid value. */
export function valuesWithMistake(
  document: OpenApiDocument,
  schema: ValueSchema,
  options: ValueOptions = {},
): fc.Arbitrary<unknown> {
  return fc
    .tuple(validValues(document, schema, options), fc.constantFrom(...WRONG), fc.nat(), fc.nat(5))
    .map(([value, wrong, place, depth]) => withReplaced(value, wrong, place, depth));
}

/** The value with the part at a place, at most `depth` levels deep, replaced. */
function withReplaced(value: unknown, wrong: unknown, place: number, depth: number): unknown {
  if (depth === 0 || typeof value !== 'object' || value === null) return wrong;
  const keys = Object.keys(value);
  const key = keys[place % Math.max(1, keys.length)];
  if (key === undefined) return wrong;
  const part = (value as Record<string, unknown>)[key];
  const replaced = withReplaced(part, wrong, Math.floor(place / keys.length), depth - 1);
  if (Array.isArray(value)) return value.with(Number(key), replaced);
  return { ...value, [key]: replaced };
}

/** The places of all required properties, as the names on the way to each; `0` is an item of an array. */
export function requiredPlaces(
  document: OpenApiDocument,
  given: ValueSchema,
  at: readonly string[] = [],
): string[][] {
  const { properties = {}, required = [], items } = mergedSchema(document, given);
  const own = required.map((name) => [...at, name]);
  const below = Object.entries(properties).flatMap(([name, property]) =>
    requiredPlaces(document, property, [...at, name]),
  );
  const inItems = items === undefined ? [] : requiredPlaces(document, items, [...at, '0']);
  return [...own, ...below, ...inItems];
}
