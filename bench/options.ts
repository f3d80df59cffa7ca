import { parseArgs } from 'node:util';

export interface Options {
  /** A fraction of the time, for a look whether something has become slower. */
  quick: boolean;
  /** Where V8 writes a profile of the platform's process; nowhere when left out. */
  profileDir: string | undefined;
}

export const HELP = `Measures Creditlane in one process, with its database, load and receiver on this machine.

  npm run bench -- [options]

  --quick            40 seconds instead of three minutes
  --profile DIR      write a CPU profile of the platform's process into DIR
  --help             this text
`;

/** Reads the command line; undefined when it asks for help. Throws when it cannot be understood. */
export function readOptions(argv: string[]): Options | undefined {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean' },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return undefined;
  return { quick: values.quick ?? false, profileDir: values.profile };
}
