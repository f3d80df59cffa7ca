/** A child process that writes its output into a log file. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { open, rename } from 'node:fs/promises';
import { ignoreMissing } from './missing-file.ts';

/**
 * Renames the log of the last start, which explains a crash, to `.1`, and spawns the program with a new one.
 * A file, not a pipe: the child outlives a killed parent, and a write to a broken pipe ends it. The child has a process
 * group of its own: Ctrl-C is for this process, which stops the child after the child's clients.
 */
export async function spawnLogged(
  program: string,
  args: readonly string[],
  { logFile, ...options }: { logFile: string } & Omit<SpawnOptions, 'detached' | 'stdio'>,
): Promise<ChildProcess> {
  await rename(logFile, `${logFile}.1`).catch(ignoreMissing);
  const log = await open(logFile, 'a', 0o600);
  try {
    return spawn(program, args, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] });
  } finally {
    await log.close();
  }
}

/** The last line that `isError` takes for an error; the last line of all where there is none, undefined without lines. */
export function lastErrorLine(output: string, isError: RegExp): string | undefined {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => isError.test(line)) ?? lines.at(-1);
}
