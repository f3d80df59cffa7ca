/** `npm run bench`: measures the platform; each subject is a file of subjects/. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem, type } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '@creditlane/local/command';
import { UsageError } from '@creditlane/local/options';
import { type BenchOptions, type Measure, runMeasure } from './harness.ts';
import { FULL, QUICK, SMOKE } from './plan.ts';

const SUBJECTS_DIR = join(import.meta.dirname, 'subjects');
const RESULTS_FILE = join(import.meta.dirname, '..', '.cache', 'bench.json');
/** What is measured when no subject is named. */
const STANDARD = ['one-process', 'processes', 'credit-files'];

interface Options extends BenchOptions {
  subjects: string[];
  resultsFile: string;
}

/** The names of the subjects, each with the line that begins its file. */
async function listSubjects(): Promise<Map<string, string>> {
  const files = await readdir(SUBJECTS_DIR);
  const subjects = files.sort().map(async (file): Promise<[string, string]> => {
    const text = await readFile(join(SUBJECTS_DIR, file), 'utf8');
    return [basename(file, '.ts'), /^\/\*\* (.*) \*\//.exec(text)?.[1] ?? ''];
  });
  return new Map(await Promise.all(subjects));
}

const subjects = await listSubjects();
const list = [...subjects].map(([name, about]) => `  ${name.padEnd(16)}${about}\n`).join('');

const HELP = `Measures rates, latencies and CPU times, and prints each figure beside its target or limit. Fails when a figure is
above its limit. Database, broker, load generator and webhook receiver run on this machine, too: figures of
different runs cannot be compared, ratios of one run can.

  npm run bench -- [options]                     ${STANDARD.join(', ')}
  npm run bench -- [options] <subject>
  npm run bench -- [options] svix <path of svix-server>

${list}
  --quick            enough to see that something became slower
  --smoke            to see that the measurements work; the figures mean nothing
  --profile DIR      write CPU profiles of the platform's processes to DIR
  --out FILE         write the figures as JSON to FILE (default .cache/bench.json)
  --help             print this text
`;

/** Reads the command line. Throws `UsageError`. */
function readOptions(argv: string[]): Options {
  const { values, positionals } = parse(argv);
  const [subject, argument, ...others] = positionals;
  if (others.length > 0 || (subject !== undefined && !subjects.has(subject))) {
    throw new UsageError(`Name one subject, or none:\n${list}`);
  }
  const { profile } = values;
  return {
    plan: values.smoke ? SMOKE : values.quick ? QUICK : FULL,
    nodeFlags: profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
    subjects: subject === undefined ? STANDARD : [subject],
    argument,
    resultsFile: values.out ?? RESULTS_FILE,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        smoke: { type: 'boolean' },
        profile: { type: 'string' },
        out: { type: 'string' },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. See --help.`);
  }
}

async function measureAll({ subjects: names, resultsFile, ...options }: Options): Promise<void> {
  const results: Record<string, Record<string, number>> = {};
  process.stdout.write(`${describeMachine()}\n`);
  for (const name of names) {
    process.stdout.write(`\n${name}\n`);
    const module: { default: Measure } = await import(join(SUBJECTS_DIR, `${name}.ts`));
    const { figures, exceeded } = await runMeasure(module.default, options);
    results[name] = figures;
    if (exceeded > 0) process.exitCode = 1;
  }
  await mkdir(dirname(resultsFile), { recursive: true });
  await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
}

function describeMachine(): string {
  const gib = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

await runCommand(HELP, readOptions, measureAll);
