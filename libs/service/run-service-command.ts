/** Runs a command of a service, which the first argument of the process names. */
import { run } from '@creditlane/runtime/run';
import type { Settings } from '@creditlane/runtime/setting';
import type { ServiceDeclaration } from './define-service.ts';
import { CommandOptionError, readCommandOptions, type ServiceCommand } from './service-command.ts';
import { localSettings } from './settings.ts';
import { openServiceDatabase } from './start-service.ts';

/** A command of every service with a database: opening it has run the migrations. */
const MIGRATE: ServiceCommand<Settings> = { options: {}, run: async () => true };

/**
 * Runs the command of the service that the first argument of the process names, as in `--verify-audit` or `--migrate`;
 * false without arguments. A command that fails makes the process's exit code 1.
 */
export async function runServiceCommand<D extends ServiceDeclaration>(
  service: D,
  own: Readonly<Record<string, ServiceCommand<D['settings']>>> = {},
): Promise<boolean> {
  const [name = '', ...args] = process.argv.slice(2);
  // `run` reads --check.
  if (name === '' || name === '--check') return false;
  const commands = { ...(service.database && { migrate: MIGRATE }), ...own };
  const command = Object.entries(commands).find(([key]) => name === `--${key}`)?.[1];
  await run(
    service.name,
    localSettings(service),
    async ({ database: declared, own: settings }, life) => {
      // A second process of the service must not start because a command was misspelt.
      if (command === undefined) {
        const names = ['--check', ...Object.keys(commands).map((key) => `--${key}`)];
        throw new CommandOptionError(`${name} is none of ${names.join(', ')}`);
      }
      const options = readCommandOptions(args, command);
      const { statementTimeoutMs } = command;
      if (declared === undefined) throw new Error(`${service.name} has no database`);
      const ofDatabase = {
        ...declared,
        mayMigrate: declared.mayMigrate || command === MIGRATE,
        // A command with a time of its own waits for a lock as long as its statement may run.
        ...(statementTimeoutMs !== undefined && { statementTimeoutMs, lockTimeoutMs: 0 }),
      };
      try {
        const database = await openServiceDatabase(service, ofDatabase, life);
        const print = (result: object) => void process.stdout.write(`${JSON.stringify(result)}\n`);
        const isDone = await command.run({ settings, database, log: life.log, print }, options);
        if (!isDone) process.exitCode = 1;
      } finally {
        await life.closers.close();
      }
    },
    { isCommand: true },
  );
  return true;
}
