/** Classes of PostgreSQL errors: an unavailable database, lost contention, or a refused statement. */

import { POSTGRES_CONNECTION_MESSAGES } from '@creditlane/runtime/telemetry/error-fields';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { isTlsError } from '@creditlane/runtime/telemetry/tls-errors';
import type pg from 'pg';

/** SQLSTATE classes of errors of the server, not of the statement (PostgreSQL, appendix A). */
const UNAVAILABLE_CLASSES = new Set([
  '08', // connection exceptions
  '53', // insufficient resources: disk full, out of memory, too many connections
  '58', // system errors: input and output
]);

const SQLSTATE_LENGTH = 5;

/** Of pg's error, which has no code. */
const NO_TLS = 'The server does not support SSL connections';
const INVALID_AUTHORIZATION = '28000';
const INVALID_PASSWORD = '28P01';
const SERIALIZATION_FAILURE = '40001';
const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';
const QUERY_CANCELED = '57014';

/** Errors of statements that compete for rows or time; the same statement may succeed later. */
const CONTENTION_CODES = new Set([
  SERIALIZATION_FAILURE,
  '40P01', // deadlock detected
  LOCK_NOT_AVAILABLE, // lock timeout
  QUERY_CANCELED, // statement timeout
]);

const UNAVAILABLE_CODES = new Set([
  '57P01', // terminated by the administrator, as at shutdown
  '57P02', // another backend crashed
  '57P03', // starting up or shutting down
  '57P05', // idle session timeout
  '25P03', // idle in a transaction for too long, as in a process that was suspended
  INVALID_AUTHORIZATION, // a role that may not log in, or not from here, as while passwords are changed
  INVALID_PASSWORD, // changed in PostgreSQL; the file with the new one follows
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

/** Whether the database is unavailable, so that the same work may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('driverError' in error) return isDatabaseUnavailable(error.driverError); // TypeORM's QueryFailedError
  const code = codeOf(error);
  if (UNAVAILABLE_CODES.has(code) || isTlsError(error)) return true;
  // A server that is stopped has no Unix socket.
  if (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') return true;
  if (code.length === SQLSTATE_LENGTH && UNAVAILABLE_CLASSES.has(code.slice(0, 2))) return true;
  return POSTGRES_CONNECTION_MESSAGES.has(error.message);
}

/**
 * Whether PostgreSQL refused the password. A running process gets the new one with its next connection; at the start of a
 * process the password is wrong, and no retry helps.
 */
export function isPasswordRefused(error: unknown): boolean {
  return codeOf(error) === INVALID_PASSWORD;
}

/** Whether PostgreSQL refused the role or its password: at the start of a process a setting is wrong, and no retry helps. */
export function isLoginRefused(error: unknown): boolean {
  return isPasswordRefused(error) || codeOf(error) === INVALID_AUTHORIZATION;
}

/**
 * Whether no TLS connection was made, because the server has none, or a certificate that is not trusted. A running process may get one
 * later, as when a certificate that has expired is replaced; at the start of a process a setting is wrong, and no retry helps.
 */
export function isTlsRefused(error: unknown): boolean {
  return error instanceof Error && (isTlsError(error) || error.message === NO_TLS);
}

/** The work waited in this process for its turn at a row for longer than its lock timeout. */
export class LockTimeoutError extends LoggableError {
  readonly code = LOCK_NOT_AVAILABLE;
  override readonly message = 'other writes of the same row took too long';
}

/** Whether concurrent work has changed a row in a way that the statement could not follow, such as to another partition. */
export function isSerializationFailure(error: unknown): boolean {
  return codeOf(error) === SERIALIZATION_FAILURE;
}

/** Whether the role lacks the privilege for the statement. */
export function isPermissionDenied(error: unknown): boolean {
  return codeOf(error) === INSUFFICIENT_PRIVILEGE;
}

/** Whether the work waited for a lock for longer than its lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** Whether a statement, or its wait for a lock, exceeded its time limit. A smaller part of the same work may not. */
export function isTimeLimit(error: unknown): boolean {
  return isLockTimeout(error) || codeOf(error) === QUERY_CANCELED;
}

/** Whether the work failed because of concurrent work or of a timeout. */
export function isContentionError(error: unknown): boolean {
  return CONTENTION_CODES.has(codeOf(error));
}

/** Whether the same work may succeed later: the database is unavailable or the work lost contention. */
export function isTransientError(error: unknown): boolean {
  return isDatabaseUnavailable(error) || isContentionError(error);
}

/** Whether a statement was refused because a row has the same value in this unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    codeOf(error) === UNIQUE_VIOLATION && (error as pg.DatabaseError).constraint === constraint
  );
}

/** The SQLSTATE, or the code that Node.js gives a system error; empty without either. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : '';
}
