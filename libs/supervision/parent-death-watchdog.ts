/** Ends a program that cannot notice the end of this process by itself, such as PostgreSQL. */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** `read` returns when this process ends, however it ends: the system then closes the pipe. */
const SCRIPT = 'trap "" INT TERM HUP; read -r line; kill -s "$1" "$2"';

/**
 * Sends the signal to the process when this process ends, also by SIGKILL. Returns the function that ends the
 * watch, to be called when the process has ended: the system uses process ids again.
 */
export function signalAtOwnEnd(pid: number, signal: NodeJS.Signals): () => void {
  const args = ['-c', SCRIPT, 'parent-death-watchdog', signal.replace('SIG', ''), String(pid)];
  // A process group of its own: who kills that of this process does not kill the watchdog.
  const watchdog = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell the process is left running, and the next start ends it.
  watchdog.on('error', () => undefined);
  watchdog.unref();
  (watchdog.stdin as Socket).on('error', () => undefined).unref();
  return () => void watchdog.kill('SIGKILL');
}
