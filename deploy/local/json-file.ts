// Reads and writes the JSON files of a data directory.
import { readFile, rename, writeFile } from 'node:fs/promises';

/** The value in a JSON file; undefined when there is no file. Throws when the file cannot be read or parsed. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Where `writeJson` writes a file before it has the name. */
export function draftOf(path: string): string {
  return `${path}.new`;
}

/** Writes a JSON file atomically, readable by its owner only. Calls for one file must not overlap: they use one draft. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  const draft = draftOf(path);
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, path);
}
