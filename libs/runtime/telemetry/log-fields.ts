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

const REQUEST_NAMES = new Set(['req', 'request', 'res', 'response']);

/**
 * The safe fields of requests and responses of any class. The URL is not among them, because its query
 * may contain personal data.
 */
const REQUEST_FIELDS = ['id', 'method', 'path', 'route', 'status', 'statusCode'];

/**
 * The loggable form of log fields: plain values, the allowed fields of errors, requests and responses,
 * and nothing else. An instance of a class in place of fields, such as a request, is withheld.
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
  if (REQUEST_NAMES.has(name) && typeof value === 'object' && value !== null) {
    return requestFields(value as Record<string, unknown>);
  }
  return isPlain(value) ? plain(value) : withheld(value);
}

function requestFields(request: Record<string, unknown>): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const name of REQUEST_FIELDS) {
    const value = request[name];
    if (value !== undefined && isPlain(value)) fields[name] = plain(value);
  }
  return fields;
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
