/** A process in the root file system of the image: read-only, not root, without privileges. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { absolutePath, COMPILE_CACHE, NODE, USER } from './root-file-system.ts';

/** In a mount namespace of its own, which ends with the process. */
const ENTER = `
set -e
mount --bind "$0" "$0"
for name in null zero urandom; do mount --bind "/dev/$name" "$0/dev/$name"; done
mount --rbind /proc "$0/proc"
mount -o remount,bind,ro "$0"
cd "$0"
exec setpriv --no-new-privs --inh-caps=-all chroot --userspec=${USER}:${USER} --groups=${USER} "$0" "$@"
`;

/** Starts Node with these arguments, in the image's folder. Its pid is that of Node. */
export function spawnContained(
  folder: string,
  args: readonly string[],
  env: Record<string, string>,
): ChildProcessByStdio<null, Readable, Readable> {
  // chroot changes to the root; Node's arguments are relative to the image's folder.
  const node = [NODE, '--disable-warning=ExperimentalWarning', ...args.map(absolutePath)];
  return spawn(
    'unshare',
    ['--mount', '--propagation=private', 'sh', '-c', ENTER, folder, ...node],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env,
        NODE_ENV: 'production',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        PATH: '/nodejs/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      },
    },
  );
}
