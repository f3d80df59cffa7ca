/** Commands of a service: they run beside its processes, with its settings, on its database. */
import { parseArgs } from 'node:util';
import type { Database } from '@creditlane/postgres/database';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import type { Settings, SettingValues } from '@creditlane/runtime/setting';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { LoggableError } from '@creditlane/runtime/telemetry/loggable-error';

/** What a command gets. */
export interface CommandContext<S extends Settings> {
  settings: SettingValues<S>;
  database: Pick<Database, 'pool'>;
  /** Goes to standard error. */
  log: Log;
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

/**
 * The options of a command line.
 * @throws CommandOptionError for an argument that the command does not take, an option without its value, and one that is given
 * twice, of which only the last would count
 */
export function readCommandOptions(
  args: string[],
  { options }: Pick<ServiceCommand<Settings>, 'options'>,
): CommandOptions {
  const { values, tokens } = parsedArgs(args, options);
  const names = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new CommandOptionError(`--${repeated} is given twice`);
  return { ...values };
}

function parsedArgs(args: string[], options: ServiceCommand<Settings>['options']) {
  try {
    return parseArgs({ args, options, tokens: true });
  } catch (error) {
    const [problem] = (error as Error).message.split(/\.\s/);
    const taken = Object.entries(options).map(([name, { type }]) =>
      type === 'string' ? `--${name} VALUE` : `--${name}`,
    );
    const rule = taken.length === 0 ? 'takes no options' : `takes ${taken.join(', ')}`;
    throw new CommandOptionError(`${problem}; the command ${rule}`);
  }
}

/**
 * The UUID of an option, in lower case.
 * @throws CommandOptionError without the option, or when it is no UUID
 */
export function uuidOf(options: CommandOptions, name: string): string {
  const value = String(options[name] ?? '').toLowerCase();
  if (!isCanonicalUuid(value)) throw new CommandOptionError(`--${name} must be given, as a UUID`);
  return value;
}

/**
 * The operator's name in the option `by`, which is recorded.
 * @throws CommandOptionError without a name
 */
export function operatorOf({ by }: CommandOptions): string {
  const name = String(by ?? '').trim();
  if (name === '' || name.length > 100) {
    throw new CommandOptionError('--by must be given: who asks, in at most 100 characters');
  }
  return name;
}
