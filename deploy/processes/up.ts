// Creditlane as it runs in production, on one machine: every service a process of its own, real PostgreSQL, real Kafka.
import { runCommand } from '@creditlane/local/command';
import { run } from '@creditlane/runtime/run';
import { readUpOptions, UP_HELP } from './options.ts';
import { startProcesses } from './processes.ts';

await runCommand(UP_HELP, readUpOptions, (options) =>
  run('creditlane', (environment) => ({ ...options, environment }), startProcesses, {
    LOG_FORMAT: 'pretty',
  }),
);
