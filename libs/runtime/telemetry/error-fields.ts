import { isTlsError } from './tls-errors.ts';

/**
 * The fields of an error that a log may show: an allow-list.
 *
 * Errors of libraries quote data in their messages, such as a value that PostgreSQL could not cast or a
 * text that JSON.parse could not parse. A message is logged only when its source is known to quote none.
 */
export interface ErrorFields {
  name: string;
  message?: string;
  stack?: string;
  cause?: ErrorFields;
  errors?: ErrorFields[];
  [field: string]: unknown;
}

const MAX_DEPTH = 5;
const MAX_ERRORS = 10;
const MAX_FRAMES = 20;
const MAX_MESSAGE_LENGTH = 2_000;
const MAX_NAME_LENGTH = 200;

/**
 * Fields with names, numbers and addresses. PostgreSQL's `detail`, `where`, `hint`, `internalQuery` and
 * parameters quote rows, so they are not listed.
 */
const STRUCTURAL_FIELDS = [
  'code',
  'kind',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'syscall',
  'address',
  'port',
];

/**
 * Classes of SQLSTATE whose messages name tables, roles and limits and quote no values. The messages of
 * classes 22 (data exceptions) and P0 (raised by functions) quote values.
 */
const SQLSTATE = /^(08|23|25|26|28|3D|3F|40|42|53|54|55|57|58)[0-9A-Z]{3}$/;

/** The messages of pg's errors when a connection or the pool fails: these errors have no SQLSTATE. */
export const POSTGRES_CONNECTION_MESSAGES: ReadonlySet<string> = new Set([
  'Cannot use a pool after calling end on the pool',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Connection terminated',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
  'Query read timeout',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'timeout exceeded when trying to connect',
  'timeout expired',
]);

/** The loggable fields of anything thrown. */
export function errorFields(thrown: unknown, depth = 1): ErrorFields {
  if (!(thrown instanceof Error)) return { name: `thrown ${typeof thrown}` };
  const fields: ErrorFields = { name: shortened(String(thrown.name), MAX_NAME_LENGTH) };
  const message = loggableMessage(thrown);
  if (message !== undefined) fields.message = message;
  for (const field of STRUCTURAL_FIELDS) {
    const value = structural((thrown as unknown as Record<string, unknown>)[field]);
    if (value !== undefined) fields[field] = value;
  }
  const stack = framesOf(thrown);
  if (stack !== '') fields.stack = stack;
  if (depth < MAX_DEPTH) {
    if (thrown.cause !== undefined) fields.cause = errorFields(thrown.cause, depth + 1);
    if (thrown instanceof AggregateError) {
      fields.errors = thrown.errors
        .slice(0, MAX_ERRORS)
        .map((error) => errorFields(error, depth + 1));
    }
  }
  return fields;
}

/**
 * The message of an error whose source is known to quote no data: our own errors with `loggable = true`, system errors,
 * errors of TLS, PostgreSQL errors by class, and its driver's errors by text.
 */
export function loggableMessage(error: Error): string | undefined {
  const marks = error as Error & Record<'loggable' | 'code' | 'syscall', unknown>;
  const isSystemError = typeof marks.syscall === 'string';
  const isSqlErrorWithoutValues = typeof marks.code === 'string' && SQLSTATE.test(marks.code);
  const shown =
    marks.loggable === true ||
    isSystemError ||
    isTlsError(error) ||
    isSqlErrorWithoutValues ||
    POSTGRES_CONNECTION_MESSAGES.has(error.message);
  return shown ? shortened(error.message, MAX_MESSAGE_LENGTH) : undefined;
}

/** The frames of the stack, without its first lines, which repeat the message. */
function framesOf(error: Error): string {
  const stack = typeof error.stack === 'string' ? error.stack : '';
  const messageAt = error.message === '' ? -1 : stack.indexOf(error.message);
  const frames = messageAt === -1 ? stack : stack.slice(messageAt + error.message.length);
  return frames
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MAX_FRAMES)
    .join('\n');
}

function structural(value: unknown): string | number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' ? shortened(value, MAX_NAME_LENGTH) : undefined;
}

function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
