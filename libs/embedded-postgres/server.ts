/** Starts one postgres program on an initialised cluster, and knows when it is ready. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import pg from 'pg';
import { EmbeddedPostgresError, errorFromOutput } from './error.ts';
import type { OsUser } from './os-user.ts';
import { stopPostmaster } from './postmaster.ts';

/** Long enough to replay the log of a crash; a server that gives up says so by ending. */
const READY_WITHIN_MS = 120_000;
const POLL_MS = 25;

/**
 * Small at rest and safe in a crash: fsync and full page writes stay on. Values of statements stay
 * out of the server's log.
 */
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  shared_buffers: '64MB',
  max_connections: '100',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  max_wal_size: '512MB',
  min_wal_size: '80MB',
  // No replicas, hence neither their log nor their processes.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // No helpers beside the one backend of each connection.
  io_method: 'sync',
  max_worker_processes: '0',
  max_parallel_workers: '0',
  autovacuum_max_workers: '1',
  autovacuum_naptime: '15s',
  jit: 'off',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  password_encryption: 'scram-sha-256',
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
}

export interface Server {
  pid: number;
  /** Resolves once the server has ended, whoever ended it. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

/** Resolves once the server takes connections. Throws `EmbeddedPostgresError` and leaves none running. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { program, cluster, logFile, user, port } = options;
  // The log of the time before is what explains a crash.
  await rename(logFile, `${logFile}.1`).catch(ignoreMissing);
  const log = await open(logFile, 'a', 0o600);
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(program, ['-D', cluster, '-p', String(port), ...settings], {
    ...user,
    // A group of its own: Ctrl-C is for us, who stop the server when nobody needs it any more.
    detached: true,
    // A file, not a pipe: the server outlives a killed parent and must not choke on its messages.
    stdio: ['ignore', log.fd, log.fd],
    env: { LC_ALL: 'C', TZ: 'UTC' },
  });
  await log.close();
  const ended = endOf(child);
  // For exits that skip every shutdown; a kill -9 of us is the next start's to clean up.
  const stopAtExit = () => child.kill('SIGINT');
  process.once('exit', stopAtExit);
  const stop = async () => {
    if (child.pid !== undefined) await stopPostmaster(child.pid);
    await ended;
  };
  void ended.then(() => process.off('exit', stopAtExit));
  try {
    await ready(options, child, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid as number, ended, stop };
}

async function endOf(child: ChildProcess): Promise<void> {
  // A program that could not be started has an error instead of an end; `ready` tells of it.
  await once(child, 'exit').catch(() => undefined);
}

async function ready(
  { adminUrl, logFile, port }: ServerOptions,
  child: ChildProcess,
  ended: Promise<void>,
): Promise<void> {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) {
      const output = await readFile(logFile, 'utf8');
      throw errorFromOutput(output, `PostgreSQL could not start on port ${port}`);
    }
    try {
      // Where the port is another's, that one may never answer; our server has ended long before.
      if (await Promise.race([canConnect(adminUrl), ended.then(() => false)])) return;
    } catch (cause) {
      if (!isDatabaseUnavailable(cause)) {
        throw new EmbeddedPostgresError(
          'password_mismatch',
          'PostgreSQL refuses the password: its data directory was made with another one.',
          cause,
        );
      }
    }
    await delay(POLL_MS);
  }
  throw new EmbeddedPostgresError('failed', `PostgreSQL was not ready in time; see ${logFile}.`);
}

async function canConnect(url: string): Promise<true> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // It ends anyway; connect and end report what matters.
  await client.connect();
  await client.end();
  return true;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
