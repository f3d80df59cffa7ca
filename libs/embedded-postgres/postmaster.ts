/** A PostgreSQL server process as its data directory and the system tell of it. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const POLL_MS = 20;
/** A fast shutdown writes a checkpoint; with a full cache on a slow disk that takes seconds. */
const FAST_STOP_MS = 15_000;
const IMMEDIATE_STOP_MS = 5_000;

export interface Postmaster {
  pid: number;
  parentPid: number;
}

/**
 * The living server of a cluster, found by its postmaster.pid; "stale" when that file names a
 * process which is another by now; undefined when there is none.
 */
export async function findPostmaster(cluster: string): Promise<Postmaster | 'stale' | undefined> {
  let text: string;
  try {
    text = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const pid = Number(text.split('\n', 1)[0]);
  const found = pid > 0 && isAlive(pid) ? await describe(pid) : undefined;
  if (!found) return undefined;
  return found.command.includes(cluster) ? { pid, parentPid: found.parentPid } : 'stale';
}

/**
 * Stops a server: fast, then at once (which its next start repairs from the log). Resolves to
 * whether it is gone. Throws when we may not signal it.
 */
export async function stopPostmaster(pid: number): Promise<boolean> {
  for (const [signal, waitMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
  ] as const) {
    if (!(await isRunning(pid))) return true;
    process.kill(pid, signal);
    if (await isGoneWithin(pid, waitMs)) return true;
  }
  return false;
}

async function isGoneWithin(pid: number, waitMs: number): Promise<boolean> {
  const deadline = Date.now() + waitMs;
  while (Date.now() < deadline) {
    if (!(await isRunning(pid))) return true;
    await delay(POLL_MS);
  }
  return false;
}

/** Whether the process has not ended; a zombie has, however long its parent takes to notice. */
export async function isRunning(pid: number): Promise<boolean> {
  return isAlive(pid) && (await describe(pid)) !== undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The process's command line and parent; undefined when it has ended, a zombie too. */
async function describe(pid: number): Promise<{ command: string; parentPid: number } | undefined> {
  try {
    return process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid);
  } catch {
    // It ended while we were looking.
    return undefined;
  }
}

async function fromProc(pid: number) {
  const [stat, cmdline] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/cmdline`, 'utf8'),
  ]);
  // proc(5): "pid (name) state ppid …", where the name may hold anything, parentheses too.
  const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z') return undefined;
  return { command: cmdline.replaceAll('\0', ' '), parentPid: Number(parentPid) };
}

async function fromPs(pid: number) {
  const { stdout } = await run('ps', ['-o', 'ppid=,stat=,command=', '-p', String(pid)]);
  const [, parentPid, state, command] = /^\s*(\d+)\s+(\S+)\s+(.*)$/s.exec(stdout) ?? [];
  if (command === undefined || state?.startsWith('Z')) return undefined;
  return { command, parentPid: Number(parentPid) };
}
