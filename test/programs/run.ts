/** Runs a program to its end, and quotes the end of its output when it fails. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Written to the standard input. */
  input?: string;
  timeoutMs?: number;
}

const QUOTED_CHARACTERS = 4_000;

/** Resolves to the standard output. Throws an Error with both outputs' ends when the exit code is not 0. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env, input, timeoutMs = 600_000 }: RunOptions = {},
): Promise<string> {
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    timeout: timeoutMs,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  // A program that ends before it has read everything says why by its exit code.
  child.stdin?.on('error', () => undefined).end(input);
  const [out, err, [code, signal]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'close'),
  ]);
  if (code === 0) return out;
  const quoted = `${out}\n${err}`.trim().slice(-QUOTED_CHARACTERS);
  throw new Error(`${command} ${args.join(' ')} ended with ${signal ?? code}:\n${quoted}`);
}
