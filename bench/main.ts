/** The benchmarks: how fast the platform is in one process, beside what its database alone can do. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Closers } from '@creditlane/runtime/closers';
import { measure } from './measurements.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { FULL, QUICK } from './plan.ts';
import { describeMachine, reportOf } from './report.ts';
import { startWorld } from './world.ts';

const RESULTS_FILE = join(import.meta.dirname, '..', '.cache', 'bench.json');

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function bench({ quick, profileDir }: Options): Promise<void> {
  const closers = new Closers();
  const stop = () => void closers.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const plan = quick ? QUICK : FULL;
  try {
    say('Starting the platform');
    const world = await startWorld({ applications: plan.applications, profileDir }, closers);
    const machine = await describeMachine(world.adminUrl);
    const results = await measure(world, plan, say);
    await mkdir(dirname(RESULTS_FILE), { recursive: true });
    await writeFile(RESULTS_FILE, `${JSON.stringify({ machine, quick, ...results }, null, 2)}\n`);
    say(`\n${reportOf(machine, results)}\n\nAll of it is in ${RESULTS_FILE}`);
  } finally {
    await closers.close();
  }
}

const options = readOptions(process.argv.slice(2));
if (options === undefined) say(HELP);
else await bench(options);
