import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError } from './start-error.ts';

interface Holder {
  pid: number;
  /** Tells a process from a later one that got the same pid; empty where the system has no /proc. */
  born: string;
}

/**
 * Makes sure that one process at a time uses a data directory, and takes over from one that died.
 * Resolves to the function that releases the lock; throws `StartError` while another holds it.
 */
export async function lockInstance(dir: string): Promise<() => Promise<void>> {
  const lock = join(dir, 'instance.lock');
  const mine = join(dir, `instance.lock.${process.pid}`);
  const me: Holder = { pid: process.pid, born: await bornOf(process.pid) };
  await writeFile(mine, JSON.stringify(me));
  try {
    // A hard link is made whole or not at all, so nobody ever reads a half-written lock.
    while (!(await tryLink(mine, lock))) await evictDead(dir, lock);
  } finally {
    await unlink(mine);
  }
  return () => unlink(lock);
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
  const holder = await readHolder(lock);
  if (holder === undefined) return;
  if (await isAlive(holder)) {
    throw new StartError(`Another Creditlane (process ${holder.pid}) is using ${dir}.`);
  }
  // Renaming first shows which lock was taken away: a faster starter's new one is put back.
  const evicted = `${lock}.evicted.${process.pid}`;
  await rename(lock, evicted).catch(ignoreMissing);
  const taken = await readHolder(evicted);
  if (taken !== undefined && (await isAlive(taken))) await tryLink(evicted, lock);
  await unlink(evicted).catch(ignoreMissing);
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch (error) {
    ignoreMissing(error);
    return undefined;
  }
}

async function isAlive(holder: Holder): Promise<boolean> {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return holder.born === (await bornOf(holder.pid));
}

/**
 * The process's start time in ticks since boot: field 22 of proc(5)'s stat, which goes on after the
 * name's ")" with field 3. A zombie, dead but not yet reaped by its parent, was never born.
 */
async function bornOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch (error) {
    ignoreMissing(error);
    return '';
  }
}

function ignoreMissing(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'ESRCH') throw error;
}
