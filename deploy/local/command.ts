// The frame of a command: help, options, one line for errors that the user can mend.
import { UsageError } from './options.ts';
import { explain, StartError } from './start-error.ts';

/**
 * Runs a command: prints the help for `--help`, or calls `work` with the options. Prints one line and fails on options that cannot
 * be read, and where `work` throws an error that the user can mend.
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
  } catch (thrown) {
    const error = explain(thrown);
    if (!(error instanceof UsageError || error instanceof StartError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
