// The frame of a command: help, options, one line for wrong options.
import { UsageError } from './options.ts';

/**
 * Runs a command: prints the help for `--help`, prints one line and fails on options that cannot be
 * read, or calls `work` with the options.
 */
export async function runCommand<O>(
  help: string,
  readOptions: (argv: string[]) => O,
  work: (options: O) => Promise<void>,
): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(help);
    return;
  }
  try {
    await work(readOptions(argv));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
