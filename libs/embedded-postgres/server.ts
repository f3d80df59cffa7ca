/** The postgres program on an initialised cluster: its settings, when it is ready, how it is stopped. */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { isDatabaseUnavailable, isPasswordRefused } from '@creditlane/postgres/error-classes';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { spawnLogged } from '@creditlane/supervision/logged-child';
import { SupervisedProcess } from '@creditlane/supervision/supervised-process';
import pg from 'pg';
import { EmbeddedPostgresError, errorFromOutput } from './error.ts';
import type { OsUser } from './os-user.ts';
import { STOP_SIGNALS } from './postmaster.ts';

/** Long enough to replay the log of a crash; a server that cannot start ends. */
const READY_WITHIN_MS = 120_000;
const RESTART = { baseMs: 100, capMs: 2_000 };

/**
 * Small at rest and safe in a crash: fsync and full page writes stay on. Values of statements stay
 * out of the server's log.
 */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '64MB',
  // Nine replicas of every service, the most that `npm run up` starts, open at most 648, and the commands of operators some more.
  max_connections: '700',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  max_wal_size: '512MB',
  min_wal_size: '80MB',
  // There are no replicas: no log for them and no processes.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // No worker processes beside the one backend of each connection.
  io_method: 'sync',
  max_worker_processes: '0',
  max_parallel_workers: '0',
  autovacuum_max_workers: '1',
  jit: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
  // A client takes a connection before its password is known, one of "reserved_connections" too; the default
  // leaves it the connection for a minute.
  authentication_timeout: '5s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

export interface ServerOptions {
  /** The path of the postgres program. */
  program: string;
  cluster: string;
  logFile: string;
  user: OsUser;
  port: number;
  adminUrl: string;
  /** Settings of PostgreSQL in place of those here. */
  settings?: Readonly<Record<string, string>> | undefined;
  log?: Log | undefined;
}

/**
 * Starts PostgreSQL on an initialised cluster and keeps it running: see `SupervisedProcess`. Its
 * `ready` rejects with `EmbeddedPostgresError` when the server does not take connections.
 */
export function superviseServer(options: ServerOptions): SupervisedProcess {
  const { logFile, port, adminUrl, log } = options;
  return new SupervisedProcess({
    name: 'PostgreSQL',
    spawn: () => spawnServer(options),
    probe: () => probeServer(adminUrl),
    readyWithinMs: READY_WITHIN_MS,
    async startError(missing) {
      if (missing !== undefined) {
        return new EmbeddedPostgresError(
          'failed',
          `PostgreSQL was not ready in time; see ${logFile}.`,
        );
      }
      const output = await readFile(logFile, 'utf8');
      return errorFromOutput(output, `PostgreSQL could not start on port ${port}`);
    },
    restart: RESTART,
    stopSignals: STOP_SIGNALS,
    exitSignal: 'SIGINT',
    log,
  });
}

function spawnServer(options: ServerOptions): Promise<ChildProcess> {
  const { program, cluster, logFile, user, port, settings } = options;
  const all = Object.entries({ ...SETTINGS, ...settings });
  const flags = all.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return spawnLogged(program, ['-D', cluster, '-p', String(port), ...flags], {
    ...user,
    logFile,
    env: { LC_ALL: 'C', TZ: 'UTC' },
  });
}

/** Where another program has the port, the probe may take 5 s; the server itself has ended before. */
async function probeServer(adminUrl: string): Promise<true | string> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // `connect` and `end` report what matters.
  try {
    await client.connect();
    await client.end();
    return true;
  } catch (cause) {
    if (isPasswordRefused(cause)) {
      throw new EmbeddedPostgresError(
        'password_mismatch',
        'PostgreSQL refuses the password: its data directory was made with another one.',
        cause,
      );
    }
    if (isDatabaseUnavailable(cause)) return String(cause);
    throw new EmbeddedPostgresError('failed', `PostgreSQL cannot be asked: ${cause}`, cause);
  }
}
