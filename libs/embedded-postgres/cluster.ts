/** The data directory of an embedded PostgreSQL: creates its cluster once, stops a server left on it. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  access,
  chmod,
  chown,
  constants,
  mkdir,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { isMissing } from '@creditlane/supervision/missing-file';
import { EmbeddedPostgresError, errorFromOutput } from './error.ts';
import { closeToOthers, type OsUser } from './os-user.ts';
import { findPostmaster, stopPostmaster } from './postmaster.ts';

export const ADMIN = 'creditlane_admin';

/**
 * Creates the data directory, and closes it to other users: earlier versions made it with mode 0755.
 * Throws `EmbeddedPostgresError` when it cannot be written.
 */
export async function makeDataDir(dataDir: string, user: OsUser): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await access(dataDir, constants.W_OK | constants.X_OK);
    await closeToOthers(dataDir, user);
  } catch (error) {
    throw fromFileError(error as NodeJS.ErrnoException, dataDir);
  }
}

/** The longest path of a socket on macOS; Linux allows four bytes more. */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * The directory of the server's Unix socket; undefined on Windows, where the socket's path exceeds 103 bytes, and where the
 * directory contains `,` or `"`, which separate and quote the directories of `unix_socket_directories`.
 */
export function socketDirOf(dataDir: string): string | undefined {
  const dir = join(dataDir, 'socket');
  const bytes = Buffer.byteLength(join(dir, '.s.PGSQL.65535'));
  const isOne = bytes <= MAX_SOCKET_PATH_BYTES && !/[,"]/.test(dir);
  return process.platform === 'win32' || !isOne ? undefined : dir;
}

/**
 * Makes the directory of the socket anew, while no server runs on the data directory: the lock file of a server that was
 * killed would keep the next one from starting while any process has its id. Undefined where there can be no socket:
 * PostgreSQL would not start.
 *
 * Of the whole platform in one process, TCP on loopback costs 0.69 to 0.74 ms of CPU for each webhook at the maximum rate
 * and the socket 0.58 ms; at 700 webhooks a second half of them take 14 to 16 ms and 7 ms (runs in turns, 2 cores).
 */
export async function makeSocketDir(dataDir: string, user: OsUser): Promise<string | undefined> {
  const dir = socketDirOf(dataDir);
  if (dir === undefined) return undefined;
  await rm(dir, { recursive: true, force: true });
  await mkdir(dir, { mode: 0o700 });
  await own(dir, user);
  return (await canHoldSocket(dir)) ? dir : undefined;
}

/** Some file systems have no sockets, such as Windows drives in WSL and shared folders of virtual machines. */
async function canHoldSocket(dir: string): Promise<boolean> {
  const path = join(dir, 'attempt');
  const server = createServer();
  try {
    await once(server.listen(path), 'listening');
    // As PostgreSQL does.
    await chmod(path, 0o700);
    return true;
  } catch {
    return false;
  } finally {
    // Removes the socket.
    server.close();
  }
}

/**
 * Runs initdb if the directory has no cluster yet, and resolves to the cluster's path. initdb writes
 * to another directory, renamed at its end: an initdb that was interrupted is run again.
 */
export async function initialiseOnce(
  dataDir: string,
  initdb: string,
  user: OsUser,
  password: string,
): Promise<string> {
  const cluster = join(dataDir, 'cluster');
  if (await exists(cluster)) return cluster;
  const unfinished = join(dataDir, 'cluster.new');
  const passwordFile = join(dataDir, `password.${randomUUID()}`);
  try {
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { mode: 0o700 });
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    await Promise.all([own(unfinished, user), own(passwordFile, user)]);
    await runInitdb(initdb, user, [
      `--pgdata=${unfinished}`,
      `--username=${ADMIN}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Text sorts the same on every system, whatever locales are installed.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ]);
    await rename(unfinished, cluster);
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw error;
    throw fromFileError(error as NodeJS.ErrnoException, dataDir);
  } finally {
    await rm(passwordFile, { force: true });
  }
  return cluster;
}

async function own(path: string, { uid, gid }: OsUser): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

async function runInitdb(initdb: string, user: OsUser, flags: string[]): Promise<void> {
  const child = spawn(initdb, flags, {
    ...user,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { LC_ALL: 'C', TZ: 'UTC' },
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, code] = await Promise.all([text(child.stderr), ended]);
  if (code !== 0) throw errorFromOutput(output, 'PostgreSQL could not be set up');
}

/**
 * Makes sure that no server of an earlier process runs on the cluster. Stops a server whose parent was
 * killed, and resolves to whether there was one. Throws when its parent is `owner`: that process is alive and uses the server.
 */
export async function stopOrphan(
  cluster: string,
  owner: number | undefined,
  log: Log | undefined,
): Promise<boolean> {
  const postmaster = await findPostmaster(cluster);
  if (postmaster === undefined) return false;
  if (postmaster === 'stale') {
    // PostgreSQL refuses to start while any process has the id in this file.
    await rm(join(cluster, 'postmaster.pid'), { force: true });
    return false;
  }
  const { pid, parentPid } = postmaster;
  if (parentPid === owner) {
    throw new EmbeddedPostgresError(
      'data_dir_in_use',
      `Process ${owner} is running a PostgreSQL on ${cluster}; stop it, or use another data directory.`,
    );
  }
  log?.warn({ pid }, 'stopping the PostgreSQL that a killed process left behind');
  try {
    if (await stopPostmaster(postmaster)) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
  throw new EmbeddedPostgresError(
    'orphan_unstoppable',
    `A PostgreSQL left behind by another process (${pid}) runs on ${cluster} and does not stop.`,
  );
}

function fromFileError(error: NodeJS.ErrnoException, dataDir: string): EmbeddedPostgresError {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    return new EmbeddedPostgresError('disk_full', `The disk of ${dataDir} is full.`, error);
  }
  const why = error.code ?? error.message;
  return new EmbeddedPostgresError(
    'data_dir_unwritable',
    `${dataDir} cannot be written (${why}).`,
    error,
  );
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
