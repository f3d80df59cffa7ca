// The checks that need no running code: lint and format, types, contracts.
import { spawn } from 'node:child_process';

/** A command that succeeds when what it checks is in order. */
interface Check {
  name: string;
  command: string;
  args: string[];
  folder?: string;
}

/** How many went well and how many did not. */
export interface Tally {
  passed: number;
  failed: number;
}

const CHECKS: Check[] = [
  { name: 'lint and format', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', command: 'tsc', args: ['--project', 'tsconfig.json'] },
  { name: 'contracts', command: 'buf', args: ['lint'], folder: 'proto' },
];

/** Runs every check, each to its end, and counts how they went. */
export async function runChecks(): Promise<Tally> {
  const tally = { passed: 0, failed: 0 };
  for (const { name, command, args, folder } of CHECKS) {
    const succeeded = await runTool(command, args, folder);
    process.stdout.write(`${succeeded ? '✓' : '✗'} ${name}\n`);
    tally[succeeded ? 'passed' : 'failed'] += 1;
  }
  return tally;
}

/** Runs a tool of node_modules/.bin in the open; true when it exits with 0. */
export async function runTool(command: string, args: string[], folder = '.'): Promise<boolean> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  const exit = Promise.withResolvers<number | null>();
  child.once('error', exit.reject);
  child.once('close', exit.resolve);
  return (await exit.promise) === 0;
}
