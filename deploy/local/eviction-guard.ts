// The guard under which one process at a time replaces the instance lock of a process that died.
import { mkdtemp, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isRunning, readPidFile, writePidFile } from '@creditlane/supervision/pid-file';
import { StartError } from './start-error.ts';

/**
 * Runs `work` while no other process runs its own under the same guard. Throws `StartError` when one does.
 *
 * The guard is a directory that is never empty while it is held: the file in it names the holder. A directory cannot be
 * renamed over one that is not empty. The file of a holder that died is deleted by its name, which no other holder has. The instance lock,
 * which is one file, cannot be replaced in this way: between the read that finds its holder dead and the removal, another process
 * may have put its own lock there.
 */
export async function underGuard(guard: string, work: () => Promise<void>): Promise<void> {
  const mine = await mkdtemp(`${guard}.`);
  const name = basename(mine);
  try {
    await writePidFile(join(mine, name), process.pid);
    while (!(await tryRename(mine, guard))) await deleteDead(guard);
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    throw error;
  }
  try {
    await work();
  } finally {
    await unlink(join(guard, name));
    // Another process may have it by now.
    await rmdir(guard).catch(ignore(...NOT_EMPTY, 'ENOENT'));
  }
}

/** The codes by which systems refuse to replace or remove a directory that is not empty. */
const NOT_EMPTY = ['ENOTEMPTY', 'EEXIST'];

async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    ignore(...NOT_EMPTY)(error);
    return false;
  }
}

async function deleteDead(guard: string): Promise<void> {
  for (const name of (await readdir(guard).catch(ignore('ENOENT'))) ?? []) {
    const file = join(guard, name);
    const holder = await readPidFile(file);
    if (holder !== undefined && (await isRunning(holder))) {
      throw new StartError(`Another Creditlane (process ${holder.pid}) is starting. Try again.`);
    }
    await unlink(file).catch(ignore('ENOENT'));
  }
}

/** Rethrows errors with other codes. */
function ignore(...codes: string[]) {
  return (error: unknown): undefined => {
    if (!codes.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  };
}
