// The data directory of an installation: its checks, its marker file, and what --reset deletes.
import { existsSync } from 'node:fs';
import { access, constants, lstat, mkdir, readdir, rm, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { closeToOthers, postgresOsUser } from '@creditlane/embedded-postgres/os-user';
import { draftOf } from '@creditlane/platform/private-file';
import { ignoreMissing } from '@creditlane/supervision/missing-file';
import { readJson, writeJson } from './json-file.ts';
import { StartError } from './start-error.ts';

/** Increased with every change of the layout that an older version could not read. */
const LAYOUT_VERSION = 1;

/** The space that a new database cluster, its write-ahead log and some days of use need. */
const MIN_FREE_BYTES = 300 * 1024 * 1024;

/** Of `lstat`, on every file system. */
const BYTES_PER_BLOCK = 512;

const MARKER = 'creditlane.json';

/**
 * Creates the data directory if needed, closes it to other users of the machine, and returns its absolute
 * path. Throws `StartError`, and changes nothing, when it cannot be written, holds other files, is of a newer
 * version, has no space after the `reset`, or is not to be `reset` and has a damaged marker.
 */
export async function openDataDir(path: string, { reset = false } = {}): Promise<string> {
  const dir = resolve(path);
  try {
    await makeDir(dir);
    await access(dir, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(`The data directory ${dir} cannot be written (${codeOf(error)}).`);
  }
  await refuseOtherLayouts(dir, reset);
  await refuseFullDisk(dir, reset);
  await restrictAccess(dir);
  return dir;
}

/** Earlier versions made the directory with mode 0755. It holds every secret and event. */
async function restrictAccess(dir: string): Promise<void> {
  // Where PostgreSQL's user cannot be found, the start of PostgreSQL reports why.
  const user = await postgresOsUser().catch(() => ({}));
  try {
    await closeToOthers(dir, user);
  } catch (error) {
    // Only the owner may close a directory. Under another user's directory the secrets are still closed:
    // each file with a secret, Kafka's directory and PostgreSQL's have modes of their own.
    if (codeOf(error) !== 'EPERM') throw error;
  }
}

/** Creates the parents one by one: Node's recursive mkdir never returns below /proc. */
async function makeDir(dir: string): Promise<void> {
  try {
    await mkdir(dir);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return;
    if (codeOf(error) !== 'ENOENT' || dirname(dir) === dir) throw error;
    await makeDir(dirname(dir));
    await mkdir(dir);
  }
}

/** Whether a directory has the marker file, be it damaged. */
export function isDataDir(dir: string): boolean {
  return existsSync(join(dir, MARKER));
}

/** Writes the marker file of a data directory; called once the instance lock is held. */
export async function markDataDir(dir: string): Promise<void> {
  await writeJson(join(dir, MARKER), { layoutVersion: LAYOUT_VERSION });
}

/** What a reset deletes, in this order. */
const DATA = [
  'postgres',
  'kafka',
  'processes',
  'secrets.json',
  'demo.json',
  'demo-records.json',
  'inbox.jsonl',
  MARKER,
];

/** Deletes the files of Creditlane in a directory that `openDataDir` accepted, and no others. */
export async function emptyDataDir(dir: string): Promise<void> {
  for (const name of DATA) await rm(join(dir, name), { recursive: true, force: true });
}

/** The space on the disk that `emptyDataDir` frees. */
async function sizeOfData(dir: string): Promise<number> {
  const sizes = await Promise.all(DATA.map((name) => sizeOf(join(dir, name))));
  return sizes.reduce((sum, size) => sum + size);
}

/** The space that a file takes, or a directory with all that is in it; 0 when there is none, as processes left over delete files. */
async function sizeOf(path: string): Promise<number> {
  const stats = await lstat(path).catch(ignoreMissing);
  if (stats === undefined) return 0;
  let bytes = stats.blocks * BYTES_PER_BLOCK;
  if (!stats.isDirectory()) return bytes;
  for (const name of (await readdir(path).catch(ignoreMissing)) ?? []) {
    bytes += await sizeOf(join(path, name));
  }
  return bytes;
}

async function refuseOtherLayouts(dir: string, reset: boolean): Promise<void> {
  const version = await layoutVersion(dir);
  if (version === undefined) return refuseForeignFiles(dir);
  if (version === 'damaged') {
    if (reset) return;
    throw new StartError(
      `${join(dir, MARKER)} is damaged. Start with --reset, or another --data-dir.`,
    );
  }
  if (version > LAYOUT_VERSION) {
    throw new StartError(
      `The data directory ${dir} was written by a newer version of Creditlane (layout ${version}, ` +
        `this one reads ${LAYOUT_VERSION}). Use that version, or another --data-dir.`,
    );
  }
}

/** Without a marker the directory may hold only what a start that ended early leaves: its lock and a draft of the marker. */
async function refuseForeignFiles(dir: string): Promise<void> {
  const [foreign] = (await readdir(dir)).filter(
    (name) => !name.startsWith('instance.lock') && name !== draftOf(MARKER),
  );
  if (foreign === undefined) return;
  throw new StartError(
    `The directory ${dir} holds other files (${foreign}). Choose an empty or a new --data-dir.`,
  );
}

async function layoutVersion(dir: string): Promise<number | 'damaged' | undefined> {
  try {
    const marker = await readJson<{ layoutVersion?: unknown } | null>(join(dir, MARKER));
    if (marker === undefined) return undefined;
    return typeof marker?.layoutVersion === 'number' ? marker.layoutVersion : 'damaged';
  } catch (error) {
    if (error instanceof SyntaxError) return 'damaged';
    throw new StartError(`${join(dir, MARKER)} cannot be read (${codeOf(error)}).`);
  }
}

/** Throws `StartError` when the disk has less space than an installation needs, after what a `reset` frees. */
async function refuseFullDisk(dir: string, reset: boolean): Promise<void> {
  const disk = await statfs(dir);
  // What fills the disk may be the data that a reset deletes.
  const freeBytes = disk.bavail * disk.bsize + (reset ? await sizeOfData(dir) : 0);
  if (freeBytes >= MIN_FREE_BYTES) return;
  const mib = (bytes: number) => Math.floor(bytes / 1024 / 1024);
  throw new StartError(
    `The disk of ${dir} has ${mib(freeBytes)} MiB free${reset ? ', with what --reset deletes' : ''}; ` +
      `Creditlane needs ${mib(MIN_FREE_BYTES)} MiB.`,
  );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
