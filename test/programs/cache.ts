/** The cache of built and fetched programs, in the cache directory of the user: each is made once for its digest. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

const CACHE = join(homedir(), '.cache', 'creditlane');

/**
 * The folder of a part, which `make` fills when the cache has none for this name and digest. It is filled under another
 * name and renamed, so that an interrupted run leaves no part that is not whole.
 */
export async function cachedPart(
  name: string,
  digest: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(CACHE, `${name}-${digest.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    await make(unfinished);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process has made it meanwhile.
    if (!existsSync(folder)) throw error;
  }
  return folder;
}

/** The SHA-256, in hexadecimal digits, of files and other texts that a part is made of. */
export async function digestOf(files: readonly string[], ...texts: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) hash.update(await readFile(file)).update('\n');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('hex');
}
