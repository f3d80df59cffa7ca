/** The operating system user that PostgreSQL runs as: PostgreSQL refuses to run as root. */
import { execFile } from 'node:child_process';
import { chmod, chown, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './error.ts';

const run = promisify(execFile);

const NAME = 'postgres';

/** The ids to start PostgreSQL's programs with; empty for those of this process. */
export interface OsUser {
  uid?: number;
  gid?: number;
}

/** The user `postgres`, created if missing, when this process runs as root; else this process's user. */
export async function postgresOsUser(): Promise<OsUser> {
  if (process.getuid?.() !== 0) return {};
  try {
    return await idsOf(NAME);
  } catch {
    // There is no such user yet.
  }
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', NAME]);
    return await idsOf(NAME);
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'no_os_user',
      'PostgreSQL refuses to run as root, and an operating system user "postgres" could not be made. Make one, or start as an ordinary user.',
      cause,
    );
  }
}

async function idsOf(name: string): Promise<Required<OsUser>> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)),
  );
  if (!uid || !gid) throw new Error(`the user ${name} has no ids of its own`);
  return { uid, gid };
}

/**
 * Closes a directory to other users of the machine. Where PostgreSQL runs as a user of its own, that
 * user's group may enter the directory, which it cannot list.
 */
export async function closeToOthers(dir: string, { gid }: OsUser): Promise<void> {
  if (gid === undefined) return chmod(dir, 0o700);
  const { uid } = await stat(dir);
  await chown(dir, uid, gid);
  await chmod(dir, 0o710);
}

const ANYONE_MAY_ENTER = 0o001;
const GROUP_MAY_ENTER = 0o010;

/** Throws when the user cannot reach `path` because a directory above it is closed to other users. */
export async function assertReachable(path: string, user: OsUser): Promise<void> {
  if (user.uid === undefined) return;
  for (let dir = dirname(path); ; dir = dirname(dir)) {
    const { mode, uid, gid } = await stat(dir);
    const mayEnter =
      uid === user.uid || mode & (gid === user.gid ? GROUP_MAY_ENTER : ANYONE_MAY_ENTER);
    if (!mayEnter) {
      throw new EmbeddedPostgresError(
        'data_dir_unreachable',
        `PostgreSQL runs as the user "postgres", who may not enter ${dir}. Use a directory open to it (chmod o+x ${dir}), or start as an ordinary user.`,
      );
    }
    if (dir === dirname(dir)) return;
  }
}
