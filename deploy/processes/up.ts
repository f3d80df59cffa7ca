// `npm run up`: each service in its own process, as in production, with PostgreSQL and Kafka on this machine.
import { runCommand } from '@creditlane/local/command';
import { run } from '@creditlane/runtime/run';
import { CLOSE_WITHIN_MS, readUpOptions, UP_HELP } from './options.ts';
import { startProcesses } from './processes.ts';

await runCommand(UP_HELP, readUpOptions, (options) =>
  run(
    'creditlane',
    {},
    (_settings, life, environment) => startProcesses({ ...options, environment }, life),
    { defaults: { LOG_FORMAT: 'pretty' }, closeWithinMs: CLOSE_WITHIN_MS },
  ),
);
