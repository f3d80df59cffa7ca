// `npm start`: all services in one process, with an embedded PostgreSQL, demo data and a webhook inbox.
import { run } from '@creditlane/runtime/run';
import { runCommand } from './command.ts';
import { startOneProcess } from './one-process.ts';
import { HELP, readOptions } from './options.ts';

/** Lines for people instead of JSON, and of the services only warnings and errors. */
const LOG_SETTINGS = { LOG_FORMAT: 'pretty', LOG_LEVEL: 'warn' };

await runCommand(HELP, readOptions, (options) =>
  run('creditlane', {}, (_settings, process) => startOneProcess(options, process), {
    defaults: LOG_SETTINGS,
  }),
);
