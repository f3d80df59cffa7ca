// Reads and writes the JSON files of a data directory.
import { readFile } from 'node:fs/promises';
import { writePrivateFile } from '@creditlane/platform/private-file';
import { StartError } from './start-error.ts';

/** The value in a JSON file; undefined when there is no file. Throws when the file cannot be read or parsed. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** As `readJson`. Throws `StartError` where the file is damaged or cannot be read. */
export async function readDataFile<T>(path: string): Promise<T | undefined> {
  try {
    return await readJson<T>(path);
  } catch (error) {
    const why =
      error instanceof SyntaxError
        ? 'is damaged. Start with --reset, which deletes all data, or another --data-dir.'
        : `cannot be read (${(error as NodeJS.ErrnoException).code}).`;
    throw new StartError(`${path} ${why}`);
  }
}

/** Writes a JSON file by `writePrivateFile`. Calls for one file must not overlap. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`);
}
