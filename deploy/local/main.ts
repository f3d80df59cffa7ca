// Creditlane on a laptop: all services in one process, an embedded PostgreSQL, demo data and a webhook inbox.
import { run } from '@creditlane/runtime/run';
import { startLaptop } from './laptop.ts';
import { HELP, readOptions, UsageError } from './options.ts';

/** A person reads this log: lines instead of JSON, and of the services only what needs attention. */
const LOG_SETTINGS = { LOG_FORMAT: 'pretty', LOG_LEVEL: 'warn' };

try {
  const invocation = readOptions(process.argv.slice(2));
  if (invocation.kind === 'help') process.stdout.write(HELP);
  else await run('creditlane', () => invocation.options, startLaptop, LOG_SETTINGS);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
