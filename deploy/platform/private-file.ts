/** Writes files that only their owner may read, such as those of an installation's secrets. */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Where `writePrivateFile` writes a file before it has the name. */
export function draftOf(path: string): string {
  return `${path}.new`;
}

/**
 * Writes the whole file or leaves it as it was, also when the process or the machine stops meanwhile: a key ring that
 * is lost or empty makes all sealed data unreadable. Calls for one file must not overlap: they use one draft.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  // The draft of an interrupted call may be readable by others.
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncDirectory(dirname(path));
}

/** After this the new name is kept, too. Windows opens no directory. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path, 'r');
  try {
    await directory.sync().catch(ignoreUnsupported);
  } finally {
    await directory.close();
  }
}

/** Some network file systems sync no directory. */
function ignoreUnsupported(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error;
}
