// @ts-check
// Child processes of the launcher: each in a process group of its own, so that a signal reaches
// it exactly once and nothing outlives the launcher.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * One Ctrl-C arrives twice under npm: from the terminal, and again from npm, which passes it on.
 * A repeat within this time is the same one; a later one is a person insisting.
 */
const REPEAT_MS = 400;

/**
 * Waits for a child that leads its own process group, passing signals on to it.
 * @param {import('node:child_process').ChildProcess} child spawned with `detached: true`
 * @param {boolean} leaderOnly signal the child alone, because it stops its own children in order;
 *   otherwise the whole group, as a terminal would
 * @returns {Promise<number>} its exit code, 128 + n when signal n ended it
 */
export function finished(child, leaderOnly) {
  /** @type {Map<NodeJS.Signals, number>} */
  const passedAt = new Map();
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    const now = performance.now();
    if (child.pid === undefined || now - (passedAt.get(signal) ?? -REPEAT_MS) < REPEAT_MS) return;
    passedAt.set(signal, now);
    try {
      // A closed terminal asks for the same orderly end as SIGTERM.
      process.kill(leaderOnly ? child.pid : -child.pid, signal === 'SIGHUP' ? 'SIGTERM' : signal);
    } catch (error) {
      // The child is gone already: its exit is on its way here.
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
 * Runs a file under the given Node with the repository's tools on the PATH.
 * @param {string} node the Node binary
 * @param {string} file what to run
 * @param {string[]} args its arguments
 * @param {string} root the repository, where it runs
 * @param {boolean} leaderOnly see `finished`
 * @returns {Promise<number>} its exit code
 */
export function launch(node, file, args, root, leaderOnly) {
  const path = [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH];
  const watchdog = new URL('parent-death-watchdog.mjs', import.meta.url).href;
  const flags = ['--disable-warning=ExperimentalWarning', '--import', watchdog];
  const child = spawn(node, [...flags, file, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    cwd: root,
    detached: true,
    env: { ...process.env, PATH: path.join(delimiter), CREDITLANE_LAUNCHER: String(process.pid) },
  });
  return finished(child, leaderOnly);
}
