/** `npm run bench`: measures the platform in both run modes, beside the limit of its PostgreSQL. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { KafkaUnavailableError, kafkaClasspath } from '@creditlane/embedded-kafka/jars';
import { runCommand } from '@creditlane/local/command';
import type { Closers } from '@creditlane/runtime/closers';
import { measureCreditFiles } from './measurements/credit-files.ts';
import { measureSoak } from './measurements/soak.ts';
import { measureThroughput } from './measurements/throughput.ts';
import { type BenchPart, HELP, type Options, readOptions } from './options.ts';
import { startBenchPlatform } from './platform/bench-platform.ts';
import { COLLECTABLE_FLAGS } from './platform/memory.ts';
import { describeMachine } from './report/machine.ts';
import { type BenchResults, formatReport } from './report/report.ts';
import { withClosers } from './with-closers.ts';

const RUN_MODE_OF = { 'one-process': 'one process', processes: 'processes' } as const;

const print = (line: string) => void process.stdout.write(`${line}\n`);

async function bench(options: Options): Promise<void> {
  const results: BenchResults = { throughput: {}, soak: {} };
  for (const part of options.parts) {
    if (part === 'processes' && !(await isKafkaAvailable())) continue;
    print(`\n${part}`);
    if (part === 'credit-files') results.creditFiles = measureCreditFiles(options.plan);
    else await withClosers((closers) => measurePart(results, part, options, closers));
  }
  const { resultsFile } = options;
  await mkdir(dirname(resultsFile), { recursive: true });
  await writeFile(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  print(`\n${formatReport(results)}\n\nAll results: ${resultsFile}`);
}

/** Starts the platform, measures one part, and adds the result. */
async function measurePart(
  results: BenchResults,
  part: Exclude<BenchPart, 'credit-files'>,
  { plan, soak, profileDir }: Options,
  closers: Closers,
): Promise<void> {
  const profile = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
  const nodeFlags = [...profile, ...(soak ? COLLECTABLE_FLAGS : [])];
  const runMode = RUN_MODE_OF[part];
  const platform = await startBenchPlatform({ runMode, nodeFlags }, closers);
  results.machine = await describeMachine(platform.adminUrl);
  if (soak) results.soak[runMode] = await measureSoak(platform, plan, print);
  else results.throughput[runMode] = await measureThroughput(platform, plan, print);
}

async function isKafkaAvailable(): Promise<boolean> {
  try {
    await kafkaClasspath();
    return true;
  } catch (error) {
    if (!(error instanceof KafkaUnavailableError)) throw error;
    print(`\nNOT MEASURED: processes, because there is no Kafka. ${error.message}`);
    return false;
  }
}

await runCommand(HELP, readOptions, bench);
