/** Files that name a process, so that a later process can find out whether it runs, and end it. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isMissing } from './missing-file.ts';
import { readProcess } from './process-info.ts';

/** Identifies one process for as long as the machine runs, although the system uses pids again. */
export interface ProcessIdentity {
  pid: number;
  /** In the system's own form; empty when there is no such process. */
  startTime: string;
}

const POLL_MS = 20;

export async function identifyProcess(pid: number): Promise<ProcessIdentity> {
  return { pid, startTime: (await readProcess(pid))?.startTime ?? '' };
}

/** Whether the process runs. A process that has ended and is not yet reaped by its parent does not. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  if (identity.startTime === '') return false;
  return identity.startTime === (await readProcess(identity.pid))?.startTime;
}

/**
 * Sends a signal to the process. Resolves to whether it was sent: false where the process has ended. Throws when the system
 * does not permit it.
 */
export async function sendSignal(
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
): Promise<boolean> {
  if (!(await isRunning(identity))) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    // The process has ended since it was looked for.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Resolves to whether the process ended within the time. */
export async function exitsWithin(identity: ProcessIdentity, waitMs: number): Promise<boolean> {
  const untilMs = performance.now() + waitMs;
  while (await isRunning(identity)) {
    if (performance.now() >= untilMs) return false;
    await delay(POLL_MS);
  }
  return true;
}

/** Names a process in a file, for `killFromPidFile` after this process has ended without stopping it. */
export async function writePidFile(file: string, pid: number): Promise<void> {
  await writeFile(file, JSON.stringify(await identifyProcess(pid)));
}

/**
 * Kills the process that the file names, if it still runs, and deletes the file once it has ended. A file that names no
 * process stays: it may be somebody else's. Resolves to whether a process was killed.
 */
export async function killFromPidFile(file: string): Promise<boolean> {
  const identity = await readPidFile(file);
  if (identity === undefined) return false;
  const isKilled = await sendSignal(identity, 'SIGKILL');
  if (isKilled) await exitsWithin(identity, Number.POSITIVE_INFINITY);
  await rm(file, { force: true });
  return isKilled;
}

/** Calls `killFromPidFile` for every file of a folder, if the folder exists. Resolves to the names of those whose process was killed. */
export async function killFromPidFiles(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  const killed = files.map(async (file) =>
    (await killFromPidFile(join(folder, file))) ? [file] : [],
  );
  return (await Promise.all(killed)).flat();
}

/** The process that a file names; undefined when there is no such file or it names none. */
export async function readPidFile(file: string): Promise<ProcessIdentity | undefined> {
  try {
    return parsePidFile(await readFile(file, 'utf8'));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The process that a file with this text names; undefined when it names none. */
export function parsePidFile(text: string): ProcessIdentity | undefined {
  try {
    const content: unknown = JSON.parse(text);
    // Earlier versions wrote the start time under the name `born`.
    const { pid, startTime, born } = (content ?? {}) as Partial<ProcessIdentity> & {
      born?: string;
    };
    return typeof pid === 'number' ? { pid, startTime: startTime ?? born ?? '' } : undefined;
  } catch (error) {
    // A writer that was killed leaves an incomplete file.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
