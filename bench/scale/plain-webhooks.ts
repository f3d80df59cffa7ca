/** CPU and latency of the platform's webhooks, in turns with a plain program of the same round trips, without the platform's rules. */
import { copySubmission } from '../data/submissions.ts';
import { vacuumAll } from '../data/vacuum.ts';
import type { FixedRateLoad } from '../load/load-patterns.ts';
import type { LoadWorker, Writer } from '../load/load-worker.ts';
import { startBenchPlatform } from '../platform/bench-platform.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';
import { readCpuTimes } from '../platform/cpu-cost.ts';
import type { PlainWorker } from '../platform/plain-worker.ts';
import { startWorker, type Worker } from '../platform/worker.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const APPLICATIONS = 256;
const ROUNDS = 3;
const LOAD = { warmUpMs: 500, measureMs: 8_000 };
const WARM_UP = { callers: 32, operations: 20_000, maxMs: 30_000 };
/** The rates at which both are measured. `maxCpuRatio`: how many times the CPU of the plain program the platform may use. */
const RATES = [
  { perSecond: 50, maxCpuRatio: 5 },
  { perSecond: 700, maxCpuRatio: 2.5 },
];

interface Program {
  readonly name: 'platform' | 'plain program';
  readonly loadWorker: Worker<LoadWorker>;
  /** Of Node and of its PostgreSQL. */
  readonly pids: { readonly node: number; readonly postgres: number };
  settled(): Promise<void>;
}

type Measured = FixedRateLoad['latencyMs'] & { nodeCpuMs: number; postgresCpuMs: number };

const KIND = { writer: 'plain webhooks', endsWith: 'webhook' } as const;

async function measure(scale: Scale): Promise<void> {
  const platform = await startPlatform(scale);
  const programs = [platform.program, await startPlainProgram(scale, platform.writer)];
  for (const { loadWorker, settled } of programs) {
    await loadWorker.call('warmUp', { kind: KIND, ...WARM_UP });
    await settled();
  }
  await vacuumAll(platform.databaseUrls);
  for (const { perSecond, maxCpuRatio } of RATES) {
    const cpuRatios: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const cpu = new Map<Program['name'], number>();
      for (const program of programs) {
        const it = await measureAt(program, perSecond);
        cpu.set(program.name, it.nodeCpuMs + it.postgresCpuMs);
        scale.print(
          `${perSecond}/s ${program.name.padEnd(13)} p50 ${it.p50.toFixed(2)} ms, p99 ${it.p99.toFixed(1)} ms, ` +
            `CPU of Node ${it.nodeCpuMs.toFixed(2)} ms, of PostgreSQL ${it.postgresCpuMs.toFixed(2)} ms`,
        );
      }
      cpuRatios.push((cpu.get('platform') ?? 0) / (cpu.get('plain program') ?? 0));
    }
    const median = cpuRatios.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
    scale.limit(`CPU at ${perSecond}/s, platform / plain program`, median, maxCpuRatio);
  }
}

async function startPlatform(scale: Scale) {
  const platform = await startBenchPlatform(
    { runMode: 'one process', nodeFlags: [] },
    scale.closers,
  );
  const { baseUrl, tenants, databaseUrls, loadWorker, worker, postgresPid, settled } = platform;
  const { withWebhook } = tenants;
  const from = { fromUrl: databaseUrls.decisions };
  const applicationIds = await copySubmission(from, withWebhook, APPLICATIONS);
  const { key, creditorId } = withWebhook;
  const writer: Writer = { baseUrl, key, creditorId, applicationIds };
  await loadWorker.call('setWriter', { name: KIND.writer, writer });
  const pids = { node: worker.pid, postgres: postgresPid() };
  const program: Program = { name: 'platform', loadWorker, pids, settled };
  return { program, writer, databaseUrls };
}

/** The same load, at the plain program and its own PostgreSQL. */
async function startPlainProgram(scale: Scale, writer: Writer): Promise<Program> {
  const { socketUrl: databaseUrl, pid } = await startBenchPostgres(scale.closers);
  const worker = startWorker<PlainWorker>('platform/plain-worker.ts');
  scale.closers.add('plain program', worker.close);
  const loadWorker = startWorker<LoadWorker>('load/load-worker.ts');
  scale.closers.add('load generator of the plain program', loadWorker.close);
  const inboxUrl = await loadWorker.call('startReceiver', undefined);
  const baseUrl = await worker.call('start', { databaseUrl, inboxUrl });
  await loadWorker.call('setWriter', { name: KIND.writer, writer: { ...writer, baseUrl } });
  const pids = { node: worker.pid, postgres: pid() };
  const settled = () => worker.call('settled', undefined);
  return { name: 'plain program', loadWorker, pids, settled };
}

/** The latencies, and the CPU time of one webhook, in milliseconds. */
async function measureAt(program: Program, perSecond: number): Promise<Measured> {
  const { loadWorker, pids, settled } = program;
  const before = await readCpuTimes({ ...pids });
  const { latencyMs } = await loadWorker.call('fixedRate', { kind: KIND, perSecond, ...LOAD });
  await settled();
  const after = await readCpuTimes({ ...pids });
  const webhooks = (perSecond * (LOAD.warmUpMs + LOAD.measureMs)) / 1_000;
  const cpuOf = (name: keyof typeof pids) =>
    ((after?.[name] ?? Number.NaN) - (before?.[name] ?? Number.NaN)) / webhooks;
  return { ...latencyMs, nodeCpuMs: cpuOf('node'), postgresCpuMs: cpuOf('postgres') };
}

await measureScale(measure);
