/** CPU and latency of the platform's webhooks, in turns with a plain program of the same round trips, without the platform's rules. */

import type { Bench } from '../harness.ts';
import type { Writer } from '../load/load-worker.ts';
import {
  measureInTurns,
  type Program,
  setWriter,
  startLoadWorker,
  startPlatformProgram,
} from '../load/programs-in-turns.ts';
import { startBenchPostgres } from '../platform/bench-postgres.ts';
import type { PlainWorker } from '../platform/plain-worker.ts';
import { startWorker } from '../platform/worker.ts';

const RATES = [
  { perSecond: 50, maxCpuRatio: 5 },
  { perSecond: 700, maxCpuRatio: 2.5 },
];

export default async function measure(bench: Bench): Promise<void> {
  const platform = await startPlatformProgram(bench);
  const plain = await startPlainProgram(bench, platform.writer);
  await measureInTurns(bench, [platform.program, plain], RATES);
}

/** The same load, at the plain program and its own PostgreSQL. */
async function startPlainProgram(bench: Bench, writer: Writer): Promise<Program> {
  const { socketUrl: databaseUrl, pid } = await startBenchPostgres(bench.closers);
  const worker = startWorker<PlainWorker>('platform/plain-worker.ts');
  bench.closers.add('plain program', worker.close);
  const { loadWorker, inboxUrl } = await startLoadWorker(bench);
  const baseUrl = await worker.call('start', { databaseUrl, inboxUrl });
  await setWriter(loadWorker, { ...writer, baseUrl });
  const pids = { program: worker.pid, postgres: pid() };
  const settled = () => worker.call('settled', undefined);
  const databaseUrls = { plain: databaseUrl };
  return { name: 'plain program', loadWorker, pids, databaseUrls, settled };
}
