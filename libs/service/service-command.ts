/** Commands of a service: they run beside its processes, with its settings, on its database. */
import { parseArgs } from 'node:util';
import type { Database } from '@creditlane/postgres/database';
import { run } from '@creditlane/runtime/run';
import { readSettings, type Settings, type SettingValues } from '@creditlane/runtime/setting';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';
import type { ServiceDeclaration } from './define-service.ts';
import { type DatabaseSettings, localSettings } from './settings.ts';
import { openServiceDatabase } from './start-service.ts';

/** What a command gets. */
export interface CommandContext<S extends Settings> {
  settings: SettingValues<S>;
  database: Pick<Database, 'pool'>;
  /** Prints a result as a line of JSON. */
  print(result: object): void;
}

/** The values of a command's options; `flag` is true or missing. */
export type CommandOptions = Readonly<Record<string, string | boolean | undefined>>;

export interface ServiceCommand<S extends Settings> {
  /** The options that it takes, by their names without the dashes. */
  options: Readonly<Record<string, { type: 'string' | 'boolean' }>>;
  /** How long one of its statements may run, and wait for a lock; that of the service's own when left out. */
  statementTimeoutMs?: number;
  /** False makes the exit code 1. */
  run(context: CommandContext<S>, options: CommandOptions): Promise<boolean>;
}

/** The options of a command are not those that it takes. */
export class CommandOptionError extends LoggableError {}

/** A command of every service with a database: opening it has run the migrations. */
const MIGRATE: ServiceCommand<Settings> = { options: {}, run: async () => true };

/** A command with a time of its own waits for a lock as long as its statement may run. */
function settingsFor(
  command: Pick<ServiceCommand<never>, 'statementTimeoutMs'>,
  { lockTimeoutMs, ...declared }: DatabaseSettings,
): DatabaseSettings {
  const settings = { ...declared, mayMigrate: declared.mayMigrate || command === MIGRATE };
  const { statementTimeoutMs } = command;
  if (statementTimeoutMs !== undefined) return { ...settings, statementTimeoutMs };
  return { ...settings, ...(lockTimeoutMs !== undefined && { lockTimeoutMs }) };
}

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
  const commands = { migrate: MIGRATE, ...own };
  const command = Object.entries(commands).find(([key]) => name === `--${key}`)?.[1];
  await run(
    service.name,
    (env) => readSettings(env, localSettings(service)),
    async ({ database: declared, own: settings }, life) => {
      // A second process of the service must not start because a command was misspelt.
      if (command === undefined) {
        const names = Object.keys(commands).map((key) => `--${key}`);
        throw new CommandOptionError(`${name} is none of ${names.join(', ')}`);
      }
      const { values } = parseArgs({ args, options: command.options });
      if (declared === undefined) throw new Error(`${service.name} has no database`);
      try {
        const database = await openServiceDatabase(service, settingsFor(command, declared), life);
        const print = (result: object) => void process.stdout.write(`${JSON.stringify(result)}\n`);
        const isDone = await command.run({ settings, database, print }, { ...values });
        if (!isDone) process.exitCode = 1;
      } finally {
        await life.closers.close();
      }
    },
  );
  return true;
}
