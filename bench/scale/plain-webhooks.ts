/** CPU and latency of the platform's webhooks, in turns with a plain program of the same round trips, without the platform's rules. */
import type { Writer } from '../load/load-worker.ts';
import {
  measureInTurns,
  type Program,
  setWriter,
  startLoadWorker,
  startPlatformProgram,
} from '../measurements/programs-in-turns.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';
import type { PlainWorker } from '../platform/plain-worker.ts';
import { startWorker } from '../platform/worker.ts';
import { measureScale, type Scale } from '../scale-subject.ts';

const RATES = [
  { perSecond: 50, maxCpuRatio: 5 },
  { perSecond: 700, maxCpuRatio: 2.5 },
];

async function measure(scale: Scale): Promise<void> {
  const platform = await startPlatformProgram(scale);
  const plain = await startPlainProgram(scale, platform.writer);
  await measureInTurns(scale, [platform.program, plain], RATES);
}

/** The same load, at the plain program and its own PostgreSQL. */
async function startPlainProgram(scale: Scale, writer: Writer): Promise<Program> {
  const { socketUrl: databaseUrl, pid } = await startBenchPostgres(scale.closers);
  const worker = startWorker<PlainWorker>('platform/plain-worker.ts');
  scale.closers.add('plain program', worker.close);
  const { loadWorker, inboxUrl } = await startLoadWorker(scale);
  const baseUrl = await worker.call('start', { databaseUrl, inboxUrl });
  await setWriter(loadWorker, { ...writer, baseUrl });
  const pids = { program: worker.pid, postgres: pid() };
  const settled = () => worker.call('settled', undefined);
  const databaseUrls = { plain: databaseUrl };
  return { name: 'plain program', loadWorker, pids, databaseUrls, settled };
}

await measureScale(measure);
