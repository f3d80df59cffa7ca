/** Why an embedded PostgreSQL did not start, in one line a person can act on. */

export type EmbeddedPostgresReason =
  | 'unsupported_platform'
  | 'no_os_user'
  | 'data_dir_unwritable'
  | 'data_dir_unreachable'
  | 'data_dir_in_use'
  | 'data_dir_damaged'
  | 'disk_full'
  | 'password_mismatch'
  | 'port_in_use'
  | 'orphan_unstoppable'
  | 'failed';

export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
  /** The message names paths, ports and processes, never contents. */
  readonly loggable = true;
  readonly reason: EmbeddedPostgresReason;

  constructor(reason: EmbeddedPostgresReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** The error that the output of initdb or postgres tells of; `fallback` says what was being done. */
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
  if (/PANIC|invalid primary checkpoint|incompatible with server|could not locate/.test(output)) {
    return new EmbeddedPostgresError('data_dir_damaged', `${fallback}: ${lastComplaint(output)}`);
  }
  return new EmbeddedPostgresError('failed', `${fallback}: ${lastComplaint(output)}`);
}

function lastComplaint(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const complaint = lines.findLast((line) => /\b(FATAL|PANIC|error):/i.test(line)) ?? lines.at(-1);
  return complaint?.replace(/^.*?\b(FATAL|PANIC|error):\s*/i, '') ?? 'it gave no reason.';
}
