/** The benchmarks: how fast the platform is in either shape, beside what its database alone can do. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KafkaUnavailableError, kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { runCommand } from '@creditlane/local/command';
import { Closers } from '@creditlane/runtime/closers';
import { soak } from './measurements/soak.ts';
import { measureBurden } from './measurements/table-size.ts';
import { measure } from './measurements/throughput.ts';
import { type BenchPart, HELP, type Options, readOptions } from './options.ts';
import { startBenchPlatform } from './platform/bench-platform.ts';
import { COLLECTABLE } from './platform/memory.ts';
import { describeMachine } from './report/machine.ts';
import { type Findings, reportOf } from './report/report.ts';

/** The services of a platform end one after the other, each within ten seconds. */
const CLOSE_WITHIN_MS = 60_000;

const SHAPE_OF = { 'one-process': 'one process', processes: 'processes' } as const;

const say = (line: string) => void process.stdout.write(`${line}\n`);

async function bench(options: Options): Promise<void> {
  const findings: Findings = { shapes: {}, soaks: {} };
  for (const part of options.parts) {
    if (part === 'processes' && !(await isThereKafka())) continue;
    say(`\n${part}`);
    await closingAll((closers) => add(findings, part, options, closers));
  }
  const { resultsFile } = options;
  await mkdir(dirname(resultsFile), { recursive: true });
  await writeFile(resultsFile, `${JSON.stringify(findings, null, 2)}\n`);
  say(`\n${reportOf(findings)}\n\nAll of it is in ${resultsFile}`);
}

/** Measures a part of all that there is to measure. */
async function add(
  findings: Findings,
  part: BenchPart,
  { plan, soak: lasting, profileDir }: Options,
  closers: Closers,
): Promise<void> {
  const profile = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const nodeFlags = [...profile, ...(lasting ? COLLECTABLE : [])];
  const shape = part === 'history' ? 'one process' : SHAPE_OF[part];
  const world = await startBenchPlatform({ shape, nodeFlags }, closers);
  findings.machine = await describeMachine(world.adminUrl);
  if (part === 'history') {
    const old = await startBenchPlatform({ shape, nodeFlags }, closers);
    findings.burden = await measureBurden({ new: world, old }, plan, say);
  } else if (lasting) findings.soaks[shape] = await soak(world, plan, say);
  else findings.shapes[shape] = await measure(world, plan, say);
}

async function isThereKafka(): Promise<boolean> {
  try {
    await kafkaClasspath();
    return true;
  } catch (error) {
    if (!(error instanceof KafkaUnavailableError)) throw error;
    say(`\nNOT MEASURED: processes. ${error.message}`);
    return false;
  }
}

/** Closes what the work opened, also when it is interrupted. */
async function closingAll(work: (closers: Closers) => Promise<void>): Promise<void> {
  const closers = new Closers({ deadlineMs: CLOSE_WITHIN_MS });
  const stop = () => void closers.close().finally(() => process.exit(1));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await work(closers);
  } finally {
    await closers.close();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
}

await runCommand(HELP, readOptions, bench);
