import { errorFields } from './error-fields.ts';

const MAX_TEXT_LENGTH = 1_000;
const MAX_LIST_LENGTH = 50;

/**
 * Names of fields that contain personal data or credentials. Objects are withheld anyway; this list
 * withholds the same contents when they are text.
 */
const WITHHELD_NAMES = new Set(
  [
    'apiKey',
    'authorization',
    'body',
    'cookie',
    'detail',
    'headers',
    'internalQuery',
    'params',
    'parameters',
    'password',
    'payload',
    'plaintext',
    'query',
    'rawHeaders',
    'secret',
    'sin',
    'token',
    'values',
    'where',
  ].map((name) => name.toLowerCase()),
);

/**
 * The loggable form of log fields: plain values, the allowed fields of errors, and nothing else. An instance of a class in
 * place of fields, such as a request, is withheld.
 */
export function logFields(fields: object): Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(fields);
  if (prototype !== Object.prototype && prototype !== null) return { fields: withheld(fields) };
  const entries = Object.entries(fields);
  return Object.fromEntries(entries.map(([name, value]) => [name, logValue(name, value)]));
}

/** The loggable form of one value, or `[withheld]` when it has none. */
export function logValue(name: string, value: unknown): unknown {
  if (WITHHELD_NAMES.has(name.toLowerCase())) return withheld(value);
  if (value instanceof Error) return errorFields(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) {
    return value
      .slice(0, MAX_LIST_LENGTH)
      .map((item) => (isPlain(item) ? plain(item) : withheld(item)));
  }
  return isPlain(value) ? plain(value) : withheld(value);
}

type Plain = string | number | boolean | bigint | null | undefined;

function isPlain(value: unknown): value is Plain {
  return value === null || !['object', 'function', 'symbol'].includes(typeof value);
}

function plain(value: Plain): Plain {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'string' || value.length <= MAX_TEXT_LENGTH) return value;
  return `${value.slice(0, MAX_TEXT_LENGTH)}…`;
}

function withheld(value: unknown): string | undefined {
  return value === undefined ? undefined : '[withheld]';
}
