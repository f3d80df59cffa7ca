/** What the operating system says about a process: from proc(5) on Linux, from ps(1) elsewhere. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasEnded, readProcessStat } from './process-stat.ts';

const run = promisify(execFile);

export interface ProcessInfo {
  parentPid: number;
  /** In the system's own form: two processes that had the same pid differ in it. */
  startTime: string;
  /** The command line, its arguments separated by spaces. */
  command: string;
}

/** Undefined when there is no such process, or it is a zombie: ended and not yet reaped by its parent. */
export function readProcess(pid: number): Promise<ProcessInfo | undefined> {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

async function readFromProc(pid: number): Promise<ProcessInfo | undefined> {
  const [stat, cmdline] = await Promise.all([readProcessStat(pid), readCommandLine(pid)]);
  if (stat === undefined || stat.isZombie || cmdline === undefined) return undefined;
  const { parentPid, startTime } = stat;
  return { parentPid, startTime, command: cmdline.replaceAll('\0', ' ') };
}

async function readCommandLine(pid: number): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (hasEnded(error)) return undefined;
    throw error;
  }
}

/** The columns ppid, stat, lstart (as in "Mon Jan  2 15:04:05 2006") and command. */
const PS_LINE = /^\s*(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/s;

async function readFromPs(pid: number): Promise<ProcessInfo | undefined> {
  const columns = 'ppid=,stat=,lstart=,command=';
  // ps fails when it finds no such process.
  const { stdout } = await run('ps', ['-o', columns, '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  const [, parentPid, state, startTime, command] = PS_LINE.exec(stdout) ?? [];
  if (startTime === undefined || command === undefined || state?.startsWith('Z')) return undefined;
  return { parentPid: Number(parentPid), startTime, command };
}
