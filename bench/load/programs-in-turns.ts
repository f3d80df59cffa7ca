/** Latency and CPU of the platform's webhooks, in turns with those of another program under the same load. */
import { copySubmission } from '../data/submissions.ts';
import { vacuumAll } from '../data/vacuum.ts';
import type { Bench } from '../harness.ts';
import { startBenchPlatform } from '../platform/bench-platform.ts';
import { readCpuTimes } from '../platform/cpu-cost.ts';
import { startWorker, type Worker } from '../platform/worker.ts';
import type { FixedRateLoad } from './load-patterns.ts';
import type { LoadWorker, Writer } from './load-worker.ts';

export const APPLICATIONS = 256;
const ROUNDS = 3;
const LOAD = { warmUpMs: 500, measureMs: 8_000 };
const WARM_UP = { callers: 32, operations: 20_000, maxMs: 30_000 };
const KIND = { writer: 'in turns', endsWith: 'webhook' } as const;

export interface Program {
  readonly name: string;
  readonly loadWorker: Worker<LoadWorker>;
  /** Of the program, and of its PostgreSQL. */
  readonly pids: { readonly program: number; readonly postgres: number };
  /** By the name of a database. */
  readonly databaseUrls: Readonly<Record<string, string>>;
  /** Resolves once all webhooks are delivered, and their results recorded. */
  settled(): Promise<unknown>;
}

/** A rate, and how many times the CPU of the other program the platform may use for each webhook. */
export interface RateInTurns {
  readonly perSecond: number;
  readonly maxCpuRatio: number;
}

type Measured = FixedRateLoad['latencyMs'] & { programCpuMs: number; postgresCpuMs: number };

/** The platform in one process, and the writer that its load generator uses. */
export async function startPlatformProgram(
  bench: Bench,
): Promise<{ program: Program; writer: Writer }> {
  const platform = await startBenchPlatform(
    { runMode: 'one process', nodeFlags: [] },
    bench.closers,
  );
  const { baseUrl, tenants, databaseUrls, loadWorker, worker, postgresPid, settled } = platform;
  const { key, creditorId } = tenants.withWebhook;
  const from = { fromUrl: databaseUrls.decisions };
  const applicationIds = await copySubmission(from, tenants.withWebhook, APPLICATIONS);
  const writer: Writer = { baseUrl, key, creditorId, applicationIds };
  await setWriter(loadWorker, writer);
  const pids = { program: worker.pid, postgres: postgresPid() };
  return { program: { name: 'platform', loadWorker, pids, databaseUrls, settled }, writer };
}

/** A load generator of the other program, with the URL of its webhook receiver. */
export async function startLoadWorker(
  bench: Bench,
): Promise<{ loadWorker: Worker<LoadWorker>; inboxUrl: string }> {
  const loadWorker = startWorker<LoadWorker>('load/load-worker.ts');
  bench.closers.add('load generator of the other program', loadWorker.close);
  return { loadWorker, inboxUrl: await loadWorker.call('startReceiver', undefined) };
}

export async function setWriter(loadWorker: Worker<LoadWorker>, writer: Writer): Promise<void> {
  await loadWorker.call('setWriter', { name: KIND.writer, writer });
}

/** Prints the figures of both at each rate, and the ratio of their CPU: the median of the rounds. */
export async function measureInTurns(
  bench: Bench,
  [platform, other]: readonly [Program, Program],
  rates: readonly RateInTurns[],
): Promise<void> {
  for (const program of [platform, other]) await warmUp(program);
  for (const { perSecond, maxCpuRatio } of rates) {
    const cpuRatios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const ofPlatform = await printAtRate(bench, platform, perSecond);
      const ofOther = await printAtRate(bench, other, perSecond);
      cpuRatios.push(ofPlatform / ofOther);
    }
    const name = `CPU at ${perSecond}/s, platform / ${other.name}`;
    bench.limit(name, medianOf(cpuRatios), maxCpuRatio);
  }
}

/** Webhooks per second with so many callers, each of which sends again once its webhook has arrived. */
export async function measureMaximum(
  bench: Bench,
  { name, loadWorker, settled }: Program,
  callers: number,
): Promise<number> {
  const { perSecond } = await loadWorker.call('closedLoad', { kind: KIND, callers, ...LOAD });
  await settled();
  bench.print(`${callers} callers ${name.padEnd(13)} ${perSecond.toFixed(0)}/s`);
  return perSecond;
}

async function warmUp({ loadWorker, settled, databaseUrls }: Program): Promise<void> {
  await loadWorker.call('warmUp', { kind: KIND, ...WARM_UP });
  await settled();
  await vacuumAll(databaseUrls);
}

/** Returns the CPU time of one webhook in milliseconds. */
async function printAtRate(bench: Bench, program: Program, perSecond: number): Promise<number> {
  const { p50, p99, programCpuMs, postgresCpuMs } = await measureAt(program, perSecond);
  bench.print(
    `${perSecond}/s ${program.name.padEnd(13)} p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, ` +
      `CPU ${programCpuMs.toFixed(2)} ms, of PostgreSQL ${postgresCpuMs.toFixed(2)} ms`,
  );
  return programCpuMs + postgresCpuMs;
}

/** The latencies, and the CPU times of one webhook, in milliseconds. */
async function measureAt(program: Program, perSecond: number): Promise<Measured> {
  const { loadWorker, pids, settled } = program;
  const before = await readCpuTimes({ ...pids });
  const { latencyMs } = await loadWorker.call('fixedRate', { kind: KIND, perSecond, ...LOAD });
  await settled();
  const after = await readCpuTimes({ ...pids });
  const webhooks = (perSecond * (LOAD.warmUpMs + LOAD.measureMs)) / 1_000;
  const cpuOf = (name: keyof typeof pids) =>
    ((after?.[name] ?? Number.NaN) - (before?.[name] ?? Number.NaN)) / webhooks;
  return { ...latencyMs, programCpuMs: cpuOf('program'), postgresCpuMs: cpuOf('postgres') };
}

function medianOf(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
}
