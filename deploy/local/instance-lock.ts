// The lock file by which one process at a time uses a data directory.
import { link, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  identifyProcess,
  isRunning,
  type ProcessIdentity,
  readPidFile,
} from '@creditlane/supervision/pid-file';
import { StartError } from './start-error.ts';

const LOCK = 'instance.lock';

/**
 * Lets one process at a time use a data directory; the lock of a process that died is replaced.
 * Resolves to the function that releases the lock. Throws `StartError` while another process holds it.
 */
export async function lockInstance(dir: string): Promise<() => Promise<void>> {
  const lock = join(dir, LOCK);
  const mine = `${lock}.${process.pid}`;
  await writeFile(mine, JSON.stringify(await identifyProcess(process.pid)));
  try {
    // A hard link appears complete or not at all, so no process reads a half-written lock.
    while (!(await tryLink(mine, lock))) await evictDead(dir, lock);
  } finally {
    await unlink(mine);
  }
  return () => unlink(lock);
}

/** The process that uses the data directory at present. */
export async function findHolder(dir: string): Promise<ProcessIdentity | undefined> {
  const holder = await readPidFile(join(dir, LOCK));
  return holder !== undefined && (await isRunning(holder)) ? holder : undefined;
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

async function evictDead(dir: string, lock: string): Promise<void> {
  const holder = await findHolder(dir);
  if (holder !== undefined) {
    throw new StartError(
      `Another Creditlane (process ${holder.pid}) is using ${dir}. Stop it, or choose another --data-dir and --port.`,
    );
  }
  // Another starter may have replaced the lock meanwhile: if the renamed lock is of a live process, it is
  // put back.
  const evicted = `${lock}.evicted.${process.pid}`;
  await rename(lock, evicted).catch(ignoreMissing);
  const taken = await readPidFile(evicted);
  if (taken !== undefined && (await isRunning(taken))) await tryLink(evicted, lock);
  await unlink(evicted).catch(ignoreMissing);
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
