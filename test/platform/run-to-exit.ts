import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** What a program that has nothing to report leaves behind. */
export const SILENT_SUCCESS: Ended = { code: 0, stdout: '', stderr: '' };

/** Runs a program to its end, whatever its exit code. Rejects when the program cannot be started or is killed. */
export async function runToExit(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ended> {
  try {
    return { code: 0, ...(await run(command, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended;
    if (typeof code !== 'number') throw error;
    return { code, stdout, stderr };
  }
}
