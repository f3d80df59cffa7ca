/** Processes told apart for as long as the machine runs, although pids come round again. */
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ProcessIdentity {
  pid: number;
  /** When it was born, in the system's own words; empty when there is no such process. */
  startTime: string;
}

const POLL_MS = 20;

export async function identifyProcess(pid: number): Promise<ProcessIdentity> {
  return { pid, startTime: await startTimeOf(pid) };
}

/** Whether the process lives. One that is dead and not yet reaped by its parent does not. */
export async function isRunning(mark: ProcessIdentity): Promise<boolean> {
  return mark.startTime !== '' && mark.startTime === (await startTimeOf(mark.pid));
}

/** Resolves to whether the process ended within the time. */
export async function exitsWithin(mark: ProcessIdentity, waitMs: number): Promise<boolean> {
  const untilMs = performance.now() + waitMs;
  while (await isRunning(mark)) {
    if (performance.now() >= untilMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Leaves word of a process for `killFromPidFile`, should this one not be there to end it. */
export async function writePidFile(file: string, pid: number): Promise<void> {
  await writeFile(file, JSON.stringify(await identifyProcess(pid)));
}

/** Kills the process that the file marks, if it still runs; resolves once it is gone. */
export async function killFromPidFile(file: string): Promise<void> {
  const mark = await readPidFile(file);
  if (mark !== undefined && (await isRunning(mark))) {
    process.kill(mark.pid, 'SIGKILL');
    await exitsWithin(mark, Number.POSITIVE_INFINITY);
  }
  await rm(file, { force: true });
}

/** Does so for every mark in a folder, if there is one. */
export async function killFromPidFiles(folder: string): Promise<void> {
  const files = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  await Promise.all(files.map((file) => killFromPidFile(join(folder, file))));
}

/** The mark in a file; undefined when there is none. */
export async function readPidFile(file: string): Promise<ProcessIdentity | undefined> {
  try {
    // Earlier versions wrote the start time under the name `born`.
    const { pid, startTime, born } = JSON.parse(await readFile(file, 'utf8')) as ProcessIdentity & {
      born?: string;
    };
    return { pid, startTime: startTime ?? born ?? '' };
  } catch (error) {
    // Half of a mark was written when its writer died: it marks nobody.
    if (error instanceof SyntaxError || isMissing(error)) return undefined;
    throw error;
  }
}

async function startTimeOf(pid: number): Promise<string> {
  return process.platform === 'linux' ? startTimeFromProc(pid) : startTimeFromPs(pid);
}

/**
 * Ticks since boot: field 22 of proc(5)'s stat, which goes on after the name's ")" with field 3, the
 * state.
 */
async function startTimeFromProc(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? '' : (fields[19] ?? '');
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}

async function startTimeFromPs(pid: number): Promise<string> {
  try {
    const { stdout } = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
    const [, state, startTime] = /^\s*(\S+)\s+(.*\S)/.exec(stdout) ?? [];
    return state?.startsWith('Z') ? '' : (startTime ?? '');
  } catch {
    // ps fails when it finds no such process.
    return '';
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH';
}
