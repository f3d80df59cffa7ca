// The static checks: lint and format, types, contracts.
import { spawn } from 'node:child_process';

/** A command that exits with 0 when the check passes. */
interface Check {
  name: string;
  command: string;
  args: string[];
  folder?: string;
}

/** Numbers of passed and failed checks or tests. */
export interface Tally {
  passed: number;
  failed: number;
}

const CHECKS: Check[] = [
  { name: 'lint and format', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'types', command: 'tsc', args: ['--project', 'tsconfig.json'] },
  { name: 'contracts', command: 'buf', args: ['lint'], folder: 'proto' },
];

/** Runs all checks, also after a failed one. */
export async function runChecks(): Promise<Tally> {
  const tally = { passed: 0, failed: 0 };
  for (const { name, command, args, folder } of CHECKS) {
    const succeeded = await runTool(command, args, folder);
    process.stdout.write(`${succeeded ? '✓' : '✗'} ${name}\n`);
    tally[succeeded ? 'passed' : 'failed'] += 1;
  }
  return tally;
}

/** Runs a tool of node_modules/.bin with visible output; returns whether it exits with 0. */
export function runTool(command: string, args: string[], folder = '.'): Promise<boolean> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`${command} could not be started: ${error.message}\n`);
      resolve(false);
    });
    child.once('close', (code) => resolve(code === 0));
  });
}
