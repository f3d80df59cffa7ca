// Where the temporary files of a test run are, such as its databases: in memory, where there is room.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { join } from 'node:path';

/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm';
/** A link to `pid:[number]`. */
const PID_NAMESPACE = '/proc/self/ns/pid';
/** Short, because the path of a Unix socket below it is. */
const PREFIX = 'creditlane-';
/** Four times as much as the tests were seen to take. */
const MIN_FREE_BYTES = 2 * 2 ** 30;

/**
 * Makes a directory in memory the one for temporary files, of this process and its children, until this process ends.
 * Does nothing where TMPDIR is set, or memory is scarce. Tests create and drop some hundred databases; on ext4 without a
 * journal half of PostgreSQL's CPU time is the search for an inode that was not deleted a moment before.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !hasFreeMemory()) return;
  // Containers may share /dev/shm. Whether a process of another container runs cannot be seen, so its directory stays.
  const prefix = `${PREFIX}${findPidNamespace()}-`;
  for (const name of readdirSync(IN_MEMORY)) {
    // A run that was killed has left its directory; its process id may be that of this run by now.
    const pid = name.startsWith(prefix) ? name.slice(prefix.length) : '';
    const isLeft = /^\d+$/.test(pid) && (pid === `${process.pid}` || !existsSync(`/proc/${pid}`));
    if (isLeft) removeIfPossible(join(IN_MEMORY, name));
  }
  const directory = join(IN_MEMORY, prefix + process.pid);
  mkdirSync(directory);
  // When root runs the tests, PostgreSQL runs as another user, who must be able to enter.
  chmodSync(directory, 0o755);
  process.env.TMPDIR = directory;
  process.once('exit', () => removeIfPossible(directory));
}

/** A process that is being killed may still write there; then the next run removes the directory. */
function removeIfPossible(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`${directory} is left: ${error}\n`);
  }
}

/** The number of this process's namespace of process ids, in base 36. */
function findPidNamespace(): string {
  const [, inode = 0] = /(\d+)/.exec(readlinkSync(PID_NAMESPACE)) ?? [];
  return Number(inode).toString(36);
}

function hasFreeMemory(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK);
    accessSync(PID_NAMESPACE);
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return Math.min(bavail * bsize, process.availableMemory()) >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}
