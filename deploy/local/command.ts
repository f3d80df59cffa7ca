import { UsageError } from './options.ts';

/**
 * Does what a person asked for on the command line: shows the help, says in one line what it cannot
 * understand, or works with the options.
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
