/** Tells "the database is away or out of means" from "the database refused this". */

/** SQLSTATE classes of trouble with the server rather than with the statement (PostgreSQL, appendix A). */
const OUTAGE_CLASSES = new Set([
  '08', // connection exceptions
  '53', // insufficient resources: disk full, out of memory, too many connections
  '58', // errors of the system beneath: input and output
]);

const SQLSTATE_LENGTH = 5;

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
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('driverError' in error) return isOutage(error.driverError); // TypeORM's QueryFailedError
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (OUTAGE_CODES.has(code)) return true;
  if (code.length === SQLSTATE_LENGTH && OUTAGE_CLASSES.has(code.slice(0, 2))) return true;
  return OUTAGE_MESSAGES.some((message) => error.message.startsWith(message));
}
