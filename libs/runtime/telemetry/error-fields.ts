/**
 * What a log may show of an error: an allow-list.
 *
 * Messages of foreign errors quote what they choked on (a value PostgreSQL could not cast, the text
 * JSON.parse stumbled over), so a message is shown only when its maker is known not to do that.
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
 * Names, numbers and addresses: never contents. Of PostgreSQL's fields, `detail`, `where`, `hint`,
 * `internalQuery` and the parameters quote rows, and are left out.
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
 * Classes of SQLSTATE whose messages name tables, roles and limits, but quote no values. Class 22
 * (data exceptions) and P0 (raised by functions) quote them.
 */
const SQLSTATE = /^(08|23|25|26|28|3D|3F|40|42|53|54|55|57|58)[0-9A-Z]{3}$/;

/** What the PostgreSQL driver says when a connection is lost or not to be had; it gives no code. */
const CONNECTION_MESSAGES = new Set([
  'Cannot use a pool after calling end on the pool',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Connection terminated',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
  'Query read timeout',
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
 * The message of an error whose maker is known to quote no data: our own errors that say so
 * (`loggable = true`), faults, the system's errors, PostgreSQL's by class, and its driver's by text.
 */
export function loggableMessage(error: Error): string | undefined {
  const marks = error as Error & Record<'loggable' | 'kind' | 'code' | 'syscall', unknown>;
  const isFault = typeof marks.kind === 'string' && typeof marks.code === 'string';
  const isSystemError = typeof marks.syscall === 'string';
  const isQuietSqlError = typeof marks.code === 'string' && SQLSTATE.test(marks.code);
  const shown =
    marks.loggable === true ||
    isFault ||
    isSystemError ||
    isQuietSqlError ||
    CONNECTION_MESSAGES.has(error.message);
  return shown ? shortened(error.message, MAX_MESSAGE_LENGTH) : undefined;
}

/** The call frames alone: the head of a stack repeats the message. */
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
