/** Why an embedded PostgreSQL did not start: a reason for programs, and one line for people. */
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import { lastErrorLine } from '@creditlane/supervision/logged-child';

export type EmbeddedPostgresReason =
  | 'unsupported_platform'
  | 'no_os_user'
  | 'data_dir_unwritable'
  | 'data_dir_unreachable'
  | 'data_dir_in_use'
  | 'data_dir_damaged'
  | 'data_dir_of_other_version'
  | 'disk_full'
  | 'password_mismatch'
  | 'port_in_use'
  | 'orphan_unstoppable'
  | 'failed';

/** The message names paths, ports and processes, never contents. */
export class EmbeddedPostgresError extends LoggableError {
  readonly reason: EmbeddedPostgresReason;

  constructor(reason: EmbeddedPostgresReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

const OTHER_VERSION =
  /initialized by PostgreSQL version (\S+), which is not compatible with this version (\S+)\.\s/;

/** Makes an error of what initdb or postgres wrote; `fallback` says which step failed. */
export function errorFromOutput(output: string, fallback: string): EmbeddedPostgresError {
  if (/No space left on device|Disk quota exceeded/.test(output)) {
    return new EmbeddedPostgresError('disk_full', `${fallback}: the disk is full.`);
  }
  if (/could not bind|Address already in use/.test(output)) {
    return new EmbeddedPostgresError('port_in_use', `${fallback}: its port is in use.`);
  }
  if (/lock file .* already exists|shared memory block .* still in use/.test(output)) {
    return new EmbeddedPostgresError(
      'data_dir_in_use',
      `${fallback}: another PostgreSQL uses its data directory.`,
    );
  }
  if (/Permission denied|Operation not permitted|Read-only file system/.test(output)) {
    return new EmbeddedPostgresError(
      'data_dir_unwritable',
      `${fallback}: its data directory cannot be written.`,
    );
  }
  const [, made, running] = OTHER_VERSION.exec(output) ?? [];
  if (made !== undefined) {
    return new EmbeddedPostgresError(
      'data_dir_of_other_version',
      `${fallback}: its data directory is of PostgreSQL ${made}, and this one is ${running}.`,
    );
  }
  if (/PANIC|invalid primary checkpoint|incompatible with server|could not locate/.test(output)) {
    return new EmbeddedPostgresError('data_dir_damaged', `${fallback}: ${reasonIn(output)}`);
  }
  return new EmbeddedPostgresError('failed', `${fallback}: ${reasonIn(output)}`);
}

function reasonIn(output: string): string {
  const line = lastErrorLine(output, /\b(FATAL|PANIC|error):/i);
  return line?.replace(/^.*?\b(FATAL|PANIC|error):\s*/i, '') ?? 'it gave no reason.';
}
