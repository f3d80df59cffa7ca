import { join } from 'node:path';
import { parseOptions, UsageError } from '@creditlane/local/options';
import { FULL, type Plan, QUICK, SMOKE } from './plan.ts';

/** What can be measured by itself. */
const PARTS = ['one-process', 'processes', 'history'] as const;

export type BenchPart = (typeof PARTS)[number];

export interface Options {
  plan: Plan;
  parts: readonly BenchPart[];
  /** Whether memory is watched under a lasting load, instead of all else. */
  soak: boolean;
  /** Where V8 writes profiles of the platform's processes; nowhere when left out. */
  profileDir: string | undefined;
  /** Gets the results as JSON. */
  resultsFile: string;
}

const RESULTS_FILE = join(import.meta.dirname, '..', '.cache', 'bench.json');

export const HELP = `Measures Creditlane with its database, broker, load and receiver on this machine.

  npm run bench -- [options]

  --only PART        one-process, processes (each service by itself, on Kafka), or history (with a
                     million decisions in the tables); may be given more than once
  --soak             instead, memory over ten minutes at half load, in one process unless --only
                     says processes
  --quick            three minutes instead of ten, for a look whether something has become slower
  --smoke            whether it works at all; its figures mean nothing
  --profile DIR      write CPU profiles of the platform's processes into DIR
  --out FILE         where the results go as JSON (default .cache/bench.json)
  --help             this text
`;

/** Reads the command line. Throws `UsageError`. */
export function readOptions(argv: string[]): Options {
  const values = parseOptions(argv, {
    only: { type: 'string', multiple: true },
    soak: { type: 'boolean' },
    quick: { type: 'boolean' },
    smoke: { type: 'boolean' },
    profile: { type: 'string' },
    out: { type: 'string' },
  });
  const soak = values.soak ?? false;
  const only = values.only?.map(readPart);
  return {
    plan: values.smoke ? SMOKE : values.quick ? QUICK : FULL,
    parts: only ?? (soak ? ['one-process'] : PARTS),
    soak,
    profileDir: values.profile,
    resultsFile: values.out ?? RESULTS_FILE,
  };
}

function readPart(text: string): BenchPart {
  const part = PARTS.find((name) => name === text);
  if (part !== undefined) return part;
  throw new UsageError(`--only: "${text}" is none of ${PARTS.join(', ')}.`);
}
