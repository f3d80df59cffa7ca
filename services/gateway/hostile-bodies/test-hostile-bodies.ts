/** For tests: bodies that are made to be expensive, from the schemas of the OpenAPI document. */
import { mergedSchema, type OpenApiDocument } from '../document/openapi-document.ts';
import { isText, type ValueSchema } from '../document/test-schema-values.ts';

export interface HostileBody {
  /** What is hostile, and where it is. */
  readonly what: string;
  /** A JSON text, or one that is nearly JSON, of about so many bytes where its size is free. */
  readonly text: (bytes: number) => string;
}

/** A place in a body: `wrap` puts a text there, into a body that is valid otherwise. */
interface Place {
  readonly at: string;
  readonly schema: ValueSchema;
  readonly wrap: (text: string) => string;
}

type Attack = readonly [what: string, text: (bytes: number) => string];

const repeated = (unit: string, bytes: number) =>
  unit.repeat(Math.max(1, Math.floor(bytes / unit.length)));
const list = (item: string, count: number) => `[${Array(Math.max(1, count)).fill(item).join(',')}]`;
const filledList = (item: string, bytes: number) =>
  list(item, Math.floor(bytes / (item.length + 1)));
const properties = (bytes: number, name: (index: number) => string) => {
  const each = name(1_000).length + 5;
  const members = Array.from({ length: Math.floor(bytes / each) }, (_, n) => `"${name(n)}":0`);
  return `{${members.join(',')}}`;
};

/** Values of the wrong kind wherever they are, as JSON. */
const WRONG = ['0', '""', '{}', '[]', 'null', 'true', '1e999', '[[]]', '{"":0}'];
/** Characters that are long in UTF-8, escaped, or delimiters of formats and patterns. */
const UNITS = [
  ...['a', '0', ' ', '-', 'a.', 'a-', 'a@', '0-', 'é', '🚗', '\u2028', '~/', '%', 'A'],
  ...['\\n', '\\"', '\\\\', '\\u0001', '\\u00e9', '\\ud83d\\ude97', '\\/'],
];
const PREFIXES = ['', 'a@', '2026-03-31T', '1'];

const OF_ANY_KIND: readonly Attack[] = [
  ...WRONG.map((item): Attack => [`a list of ${item}`, (bytes) => filledList(item, bytes)]),
  ['lists in lists', (bytes) => filledList(`${'['.repeat(30)}${']'.repeat(30)}`, bytes)],
  ['deep lists', (bytes) => repeated('[', bytes)],
  ['deep objects', (bytes) => repeated('{"a":', bytes)],
  ['many properties', (bytes) => properties(bytes, (n) => `${n}`)],
  ['many numeric properties', (bytes) => properties(bytes, (n) => `${(n * 7_919) % 100_003}`)],
  ['long property names', (bytes) => properties(bytes, (n) => `${n}${'~/'.repeat(100)}`)],
  ['escaped property names', (bytes) => properties(bytes, (n) => `\\u0061\\ud83d\\ude97${n}`)],
  ['one huge property name', (bytes) => `{"${repeated('\\u002f', bytes)}":{}}`],
  ['a property twice', (bytes) => properties(bytes, (n) => `a${n}`).replace(/}$/, ',"a0":0}')],
  ['a long number', (bytes) => repeated('9', bytes)],
  ['a long fraction', (bytes) => `-0.${repeated('0', bytes)}1`],
  ['a long exponent', (bytes) => `1e-${repeated('9', bytes)}`],
  ['white space', (bytes) => `${repeated(' \t', bytes)}0`],
  ['line feeds before a mistake', (bytes) => `${repeated('\n', bytes)}x`],
  ['a text without end', (bytes) => `"${repeated('a', bytes)}`],
  ...UNITS.map((unit): Attack => [`a text of ${unit}`, (bytes) => `"${repeated(unit, bytes)}"`]),
];

/** A value with all properties, every array at its limit, and every free text as long as allowed, of four bytes a character. */
export function longestText(document: OpenApiDocument, schema: ValueSchema): string {
  return extremeText(document, mergedSchema(document, schema), 'long').replaceAll('\\u00e9', '🚗');
}

/** All hostile bodies of one schema. */
export function hostileBodies(document: OpenApiDocument, schema: ValueSchema): HostileBody[] {
  const root = mergedSchema(document, schema);
  const places = [...placesIn(document, root, '', (text) => text)];
  return places.flatMap(({ at, schema: there, wrap }) =>
    [...OF_ANY_KIND, ...attacksOn(document, there)].map(([what, text]) => ({
      what: `${what} at ${at || '/'}`,
      text: (bytes) => {
        const rest = wrap('').length;
        return wrap(text(Math.max(0, bytes - rest - 8)));
      },
    })),
  );
}

function* placesIn(
  document: OpenApiDocument,
  schema: ValueSchema,
  at: string,
  wrap: Place['wrap'],
): Generator<Place> {
  yield { at, schema, wrap };
  const members = Object.entries(schema.properties ?? {});
  if (schema.items !== undefined) {
    const items = mergedSchema(document, schema.items);
    yield* placesIn(document, items, `${at}/0`, (text) => wrap(`[${text}]`));
  }
  if (schema.type !== 'object' && members.length === 0) return;
  const named = new Map(
    members.map(([name, property]) => [name, mergedSchema(document, property)] as const),
  );
  const texts = [...named].map(([name, property]) => `"${name}":${validText(document, property)}`);
  const beside = (name: string) => (text: string) => {
    const others = texts.filter((member) => !member.startsWith(`"${name}":`));
    return wrap(`{${[...others, `"${name}":${text}`].join(',')}}`);
  };
  for (const [name, property] of named) {
    yield* placesIn(document, property, `${at}/${name}`, beside(name));
  }
  yield { at: `${at}/unknownProperty`, schema: {}, wrap: beside('unknownProperty') };
}

/** The attacks that the keywords of a schema suggest. */
function attacksOn(document: OpenApiDocument, schema: ValueSchema): Attack[] {
  const { items, maxItems = 0, maxLength } = schema;
  const attacks: Attack[] = [
    ['everything wrong', () => extremeText(document, schema, 'wrong')],
    ['everything as long as allowed', () => extremeText(document, schema, 'long')],
  ];
  const names = Object.keys(schema.properties ?? {});
  if (names.length > 0) {
    const near = (n: number) => {
      const [name = ''] = names.slice(n % names.length);
      const letters = [26 ** 2, 26, 1].map(
        (it) => 'abcdefghijklmnopqrstuvwxyz'[Math.floor(n / it) % 26],
      );
      return `${name.slice(0, -3)}${letters.join('')}`;
    };
    attacks.push(['names near to those of the members', (bytes) => properties(bytes, near)]);
  }
  if (items !== undefined) {
    const item = mergedSchema(document, items);
    const texts = [validText(document, item), extremeText(document, item, 'wrong'), ...WRONG];
    for (const count of [maxItems, maxItems + 1, 10 * maxItems]) {
      for (const text of texts) {
        attacks.push([`${count} times ${text.slice(0, 40)}`, () => list(text, count)]);
      }
    }
  }
  if (maxLength !== undefined) {
    for (const length of [maxLength, maxLength + 1]) {
      for (const unit of UNITS) {
        attacks.push([`${length} times ${unit}`, () => `"${unit.repeat(length)}"`]);
      }
    }
  }
  if (schema.format !== undefined || (schema.pattern && !isText(schema.pattern))) {
    for (const prefix of PREFIXES) {
      for (const unit of UNITS) {
        const text = (bytes: number) => `"${prefix}${repeated(unit, bytes)}!"`;
        attacks.push([`${prefix} and then ${unit}`, text]);
      }
    }
  }
  return attacks;
}

/** The smallest value that the schema accepts, with all of its properties. */
function validText(document: OpenApiDocument, schema: ValueSchema): string {
  const { type, properties = {}, format, pattern, enum: values, minimum = 0 } = schema;
  if (values !== undefined) return JSON.stringify(values[0]);
  switch (type) {
    case 'array':
      return '[]';
    case 'boolean':
      return 'true';
    case 'integer':
    case 'number':
      return String(Math.max(minimum, 0));
    case 'string':
      return `"${validString(format ?? pattern)}"`;
    default: {
      const members = Object.entries(properties).map(
        ([name, property]) => `"${name}":${validText(document, mergedSchema(document, property))}`,
      );
      return `{${members.join(',')}}`;
    }
  }
}

function validString(rule: string | undefined): string {
  switch (rule) {
    case undefined:
      return 'a';
    case 'date':
      return '2026-03-31';
    case 'email':
      return 'a@example.com';
    case 'uuid':
      return '0198C0DE-0000-7000-8000-00000000A001';
    default:
      return rule.includes('ABC') ? 'K1A 0B1' : '046454286';
  }
}

/** Every array at its limit; every other value wrong, or as long as allowed. */
function extremeText(
  document: OpenApiDocument,
  schema: ValueSchema,
  kind: 'wrong' | 'long',
): string {
  const { items, maxItems = 0, properties = {}, maxLength } = schema;
  if (items !== undefined) {
    const item = mergedSchema(document, items);
    const texts = Array.from({ length: maxItems }, (_, n) => {
      const text = extremeText(document, item, kind);
      // Lists of ids refuse the same id twice.
      return item.format === 'uuid' && kind === 'long' ? text.replace(/A001"$/, hex(n)) : text;
    });
    return `[${texts.join(',')}]`;
  }
  const members = Object.entries(properties);
  if (members.length > 0) {
    const texts = members.map(
      ([name, property]) =>
        `"${name}":${extremeText(document, mergedSchema(document, property), kind)}`,
    );
    return `{${texts.join(',')}}`;
  }
  if (kind === 'wrong') return schema.type === 'string' ? '0' : '""';
  const isFree = maxLength !== undefined && !schema.format && isText(schema.pattern ?? '\\x00');
  return isFree ? `"${'\\u00e9'.repeat(maxLength)}"` : validText(document, schema);
}

function hex(n: number): string {
  return `${n.toString(16).padStart(4, '0')}"`;
}
