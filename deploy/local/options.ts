// The command line of `npm start`, and the options that `npm run up` shares.
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

export interface Options {
  /** The gateway's port; health and metrics, the inbox and the bureau simulator have the next ones. */
  port: number;
  dataDir: string;
  reset: boolean;
}

/** The command line could not be understood; the message says what to change. */
export class UsageError extends Error {}

export const HELP = `Creditlane on this machine: all services in one process, with demo data.

  npm start -- [options]

  --port N          the API's port (default 3000); N+1 serves health and metrics, N+2 the inbox,
                    N+3 the bureau simulator; 0 takes any free ones
  --data-dir PATH   where the database and the keys live (default .local); empty, new, or one
                    that Creditlane made; a relative path begins at this repository
  --reset           delete Creditlane's files in the data directory first, and no others
  --help            this text
`;

/** The options of both `npm start` and `npm run up`. */
export const OPTIONS = {
  port: { type: 'string' },
  'data-dir': { type: 'string' },
  reset: { type: 'boolean' },
} as const satisfies ParseArgsOptionsConfig;

/** Reads the command line of `npm start`. Throws `UsageError`. */
export function readOptions(argv: string[]): Options {
  return optionsOf(parseOptions(argv, OPTIONS), '.local');
}

/** The texts of the options. Throws `UsageError` for an unknown option. */
export function parseOptions<O extends ParseArgsOptionsConfig>(args: string[], options: O) {
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
}

/** Reads the texts of the options. Throws `UsageError`. */
export function optionsOf(
  values: { port?: string; 'data-dir'?: string; reset?: boolean },
  dataDir: string,
): Options {
  return {
    port: readPort(values.port ?? '3000'),
    dataDir: dataDirOf(values, dataDir),
    reset: values.reset ?? false,
  };
}

/** The given data directory, or `defaultDir`. Throws `UsageError`. */
export function dataDirOf(values: { 'data-dir'?: string }, defaultDir: string): string {
  // An empty path, as an unset shell variable gives it, would be the working directory.
  if (values['data-dir'] === '') throw new UsageError('--data-dir: no path is given.');
  return values['data-dir'] ?? defaultDir;
}

function readPort(text: string): number {
  const port = Number(text);
  // More ports follow the API's.
  if (!/^\d+$/.test(text) || port > 65_000) {
    throw new UsageError(`--port: "${text}" is no port between 0 and 65000.`);
  }
  return port;
}
