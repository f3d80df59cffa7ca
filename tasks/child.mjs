// @ts-check
// Child processes of the launcher. Each has a process group of its own, so that a signal reaches the child
// exactly once and no process outlives the launcher.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Under npm, the launcher gets one Ctrl-C twice: from the terminal and from npm, which passes it on. A
 * signal that is repeated within this time counts once; a later one is a second Ctrl-C.
 */
const REPEAT_MS = 1_000;

/**
 * Waits for a child that leads its own process group, and passes signals on to the child.
 * @param {import('node:child_process').ChildProcess} child spawned with `detached: true`
 * @param {boolean} leaderOnly whether to signal the child only, which then stops its own children in
 *   order; otherwise the whole group gets the signal, as from a terminal
 * @returns {Promise<number>} the child's exit code; 128 + n when signal n ended the child
 */
export function waitForExit(child, leaderOnly) {
  /** @type {Map<NodeJS.Signals, number>} */
  const passedAt = new Map();
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    const now = performance.now();
    if (child.pid === undefined || now - (passedAt.get(signal) ?? -REPEAT_MS) < REPEAT_MS) return;
    passedAt.set(signal, now);
    try {
      // SIGHUP, the signal of a closed terminal, becomes SIGTERM, which tasks handle.
      process.kill(leaderOnly ? child.pid : -child.pid, signal === 'SIGHUP' ? 'SIGTERM' : signal);
    } catch (error) {
      // ESRCH: the child has exited, and its `close` event follows.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    }
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      for (const name of SIGNALS) process.off(name, pass);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/**
 * Runs a file under the given Node, with the tools of node_modules/.bin on the PATH.
 * @param {string} node the Node binary
 * @param {string} file the file to run
 * @param {string[]} args the arguments of the file
 * @param {string} root the repository, which becomes the working directory
 * @param {boolean} leaderOnly see `waitForExit`
 * @returns {Promise<number>} the exit code
 */
export function launch(node, file, args, root, leaderOnly) {
  const path = [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH];
  const watchdog = new URL('parent-death-watchdog.mjs', import.meta.url).href;
  const flags = ['--disable-warning=ExperimentalWarning', '--import', watchdog];
  const child = spawn(node, [...flags, file, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    cwd: root,
    detached: true,
    env: {
      // Every process below reads its compiled modules from here: a platform starts with a third less CPU.
      NODE_COMPILE_CACHE: join(root, '.cache', 'compiled-modules'),
      ...process.env,
      PATH: path.join(delimiter),
      CREDITLANE_LAUNCHER: String(process.pid),
    },
  });
  return waitForExit(child, leaderOnly);
}
