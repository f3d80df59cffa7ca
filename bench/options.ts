import { join } from 'node:path';
import { parseOptions, UsageError } from '@creditlane/local/options';
import { FULL, type Plan, QUICK, SMOKE } from './plan.ts';

/** The parts that --only names. */
const PARTS = ['one-process', 'processes', 'credit-files'] as const;

export type BenchPart = (typeof PARTS)[number];

export interface Options {
  plan: Plan;
  parts: readonly BenchPart[];
  /** Measures memory under a lasting load instead of everything else. */
  soak: boolean;
  /** The directory for CPU profiles of the platform's processes; undefined writes none. */
  profileDir: string | undefined;
  /** The file for the results as JSON. */
  resultsFile: string;
}

const RESULTS_FILE = join(import.meta.dirname, '..', '.cache', 'bench.json');

export const HELP = `Measures rates, latencies and CPU times of Creditlane. Database, broker, load generator and webhook
receiver run on this machine, too.

  npm run bench -- [options]

  --only PART        one-process, processes (each service a process, with Kafka), or credit-files
                     (bureaus' answers with 200 trades, on one core, without a platform); may be
                     given more than once
  --soak             instead: memory over ten minutes at half load, in one process, or in processes
                     with --only processes
  --quick            three minutes instead of ten, enough to see that something became slower
  --smoke            a minute, to see that the benchmarks work; the figures mean nothing
  --profile DIR      write CPU profiles of the platform's processes to DIR
  --out FILE         write the results as JSON to FILE (default .cache/bench.json)
  --help             print this text
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
