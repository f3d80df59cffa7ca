import { parseArgs } from 'node:util';

export interface Options {
  /** The gateway's port; operations are served on the next one, the inbox on the one after. */
  port: number;
  dataDir: string;
  reset: boolean;
}

/** What the person asked for: a run, or the help text. */
export type Invocation = { kind: 'run'; options: Options } | { kind: 'help' };

/** The command line could not be understood; the message says what to change. */
export class UsageError extends Error {}

export const HELP = `Creditlane on this machine: all services in one process, with demo data.

  npm start -- [options]

  --port N          the API's port (default 3000); N+1 serves health and metrics, N+2 the inbox;
                    0 takes any three free ports
  --data-dir PATH   where the database and the keys live (default .local)
  --reset           delete what is there and begin anew
  --help            this text
`;

/** Reads the command line. Throws `UsageError`. */
export function readOptions(argv: string[]): Invocation {
  const values = parse(argv);
  if (values.help) return { kind: 'help' };
  return {
    kind: 'run',
    options: {
      port: readPort(values.port ?? '3000'),
      dataDir: values['data-dir'] ?? '.local',
      reset: values.reset ?? false,
    },
  };
}

function parse(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        port: { type: 'string' },
        'data-dir': { type: 'string' },
        reset: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  // Two more ports follow the API's.
  if (!/^\d+$/.test(text) || port > 65_533) {
    throw new UsageError(`--port: "${text}" is no port between 0 and 65533.`);
  }
  return port;
}
