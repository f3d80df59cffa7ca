// The lock file by which one process at a time uses a data directory.
import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '@creditlane/supervision/missing-file';
import {
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  parsePidFile,
  readPidFile,
} from '@creditlane/supervision/pid-file';
import { underGuard } from './eviction-guard.ts';
import { StartError } from './start-error.ts';

const LOCK = 'instance.lock';
const GUARD = `${LOCK}.evicting`;

type IsAlive = typeof isRunning;

/**
 * Lets one process at a time use a data directory; the lock of a process that died is replaced.
 * Resolves to the function that releases the lock. Throws `StartError` while another process holds it.
 */
export async function lockInstance(
  dir: string,
  isAlive: IsAlive = isRunning,
): Promise<() => Promise<void>> {
  const lock = join(dir, LOCK);
  const mine = `${lock}.${randomUUID()}`;
  try {
    await writeFile(mine, JSON.stringify(await identifyProcess(process.pid)));
    // A hard link appears complete or not at all, so no process reads a half-written lock.
    while (!(await tryLink(mine, lock))) await evictDead(dir, lock, isAlive);
  } finally {
    await unlink(mine).catch(ignoreMissing);
  }
  await deleteDraftsOfDead(dir, isAlive);
  return () => unlink(lock);
}

/** The process that uses the data directory at present. */
export async function findHolder(
  dir: string,
  isAlive: IsAlive = isRunning,
): Promise<ProcessIdentity | undefined> {
  const holder = await readPidFile(join(dir, LOCK));
  return holder !== undefined && (await isAlive(holder)) ? holder : undefined;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function evictDead(dir: string, lock: string, isAlive: IsAlive): Promise<void> {
  const holder = await findHolder(dir, isAlive);
  if (holder !== undefined) {
    throw new StartError(
      `Another Creditlane (process ${holder.pid}) is using ${dir}. Stop it, or choose another --data-dir and --port.`,
    );
  }
  // Under the guard no other process deletes the lock of a dead one, so a lock that is found dead here is still the same one
  // when it is deleted.
  await underGuard(join(dir, GUARD), async () => {
    const text = await readFile(lock, 'utf8').catch(ignoreMissing);
    if (text === undefined) return;
    const found = parsePidFile(text);
    if (found === undefined || !(await isAlive(found))) await unlink(lock).catch(ignoreMissing);
  });
}

/**
 * Deletes what processes left that were killed while they tried to take the lock. A draft that names no process stays: a process
 * may be writing it.
 */
async function deleteDraftsOfDead(dir: string, isAlive: IsAlive): Promise<void> {
  for (const name of (await readdir(dir)).filter((name) => name.startsWith(`${LOCK}.`))) {
    // The draft of a guard is a directory; the file in it has the same name.
    const file = name.startsWith(GUARD) ? join(dir, name, name) : join(dir, name);
    const maker = await readPidFile(file);
    if (maker === undefined || (await isAlive(maker))) continue;
    await rm(join(dir, name), { recursive: true, force: true });
  }
}
