/** Tells "the database is away, out of means or busy" from "the database refused this". */

/** SQLSTATE classes of trouble with the server rather than with the statement (PostgreSQL, appendix A). */
const OUTAGE_CLASSES = new Set([
  '08', // connection exceptions
  '53', // insufficient resources: disk full, out of memory, too many connections
  '58', // errors of the system beneath: input and output
]);

const SQLSTATE_LENGTH = 5;

const LOCK_NOT_AVAILABLE = '55P03';

/** What work meets that competes for rows or time: it did no wrong, and may well succeed later. */
const CONTENTION_CODES = new Set([
  '40001', // could not be serialised with others
  '40P01', // chosen as a deadlock's victim
  LOCK_NOT_AVAILABLE, // a lock was not to be had in time
  '57014', // took longer than the statement timeout
]);

const OUTAGE_CODES = new Set([
  '57P01', // terminated by the administrator, as at shutdown
  '57P02', // another backend crashed
  '57P03', // starting up or shutting down
  '57P05', // idle session timeout
  '25006', // read only: a standby, after a failover
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EMFILE',
]);

/** What pg says, without a code, when a connection or the pool gave out. */
const OUTAGE_MESSAGES = [
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Cannot use a pool after calling end on the pool',
];

/** Whether the failure is the database's own, so that the same work may well succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('driverError' in error) return isDatabaseUnavailable(error.driverError); // TypeORM's QueryFailedError
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (OUTAGE_CODES.has(code)) return true;
  if (code.length === SQLSTATE_LENGTH && OUTAGE_CLASSES.has(code.slice(0, 2))) return true;
  return OUTAGE_MESSAGES.some((message) => error.message.startsWith(message));
}

/** Whether others held a lock for longer than the work could wait. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE;
}

/** Whether the work lost against other work, or against the clock. */
export function isContentionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && CONTENTION_CODES.has(String(error.code));
}

/** Whether it is either: a trouble that is no fault of the work itself. */
export function isTransientError(error: unknown): boolean {
  return isDatabaseUnavailable(error) || isContentionError(error);
}

/** Whether a statement was refused because a row has the same value in this unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === '23505' &&
    'constraint' in error &&
    error.constraint === constraint
  );
}
