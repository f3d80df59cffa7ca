// The benchmarks run and report every figure. No test checks how fast the platform is.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { openTestKafka } from '@creditlane/events/kafka/test-kafka';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const MAIN = resolve(import.meta.dirname, '../bench/main.ts');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'creditlane-bench-test-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs the benchmarks; returns the printed text and the content of the results file. */
async function runBench(...args: string[]) {
  const file = join(dir, 'results.json');
  const { stdout } = await run(process.execPath, [MAIN, '--smoke', '--out', file, ...args]);
  return { stdout, results: JSON.parse(await readFile(file, 'utf8')) };
}

const kafka = await openTestKafka();
await kafka?.close();

test.skipIf(kafka === undefined)(
  'the run mode processes is measured beside the limit, with the relay and the dispatcher alone',
  { timeout: 180_000 },
  async () => {
    const { stdout, results } = await runBench('--only', 'processes');
    const { writes, deliveries, deliveriesAtHalfLoad, stages } = results.throughput.processes;
    expect(stdout).toMatch(/as a share of the limit +[\d.]+ % +≥ 35 %/);
    expect(stdout).toMatch(/request → delivered webhook +[\d,.]+\/s +≥ 3,000\/s/);
    expect(stdout).toMatch(/CPU time per delivery, processes: .*decisions .*PostgreSQL .*Kafka /);
    expect(writes.shareOfLimit).toBeGreaterThan(0);
    expect(deliveries.cost.byProcess.gateway).toBeGreaterThan(0);
    const { latencyMs, sinceCommitMs } = deliveriesAtHalfLoad;
    expect(sinceCommitMs.p50).toBeGreaterThan(0);
    expect(sinceCommitMs.p50).toBeLessThan(latencyMs.p50);
    const { fixedRates } = results.throughput.processes;
    expect(stdout).toMatch(/4\.00\/s to 4 applications +[\d.]+ ms +[\d.]+ ms +[\d.]+ ms/);
    expect(stdout).toMatch(/without any request: of a core +[\d.]+ %/);
    expect(fixedRates.stages[0].load.cost.cpuMs).toBeGreaterThan(0);
    expect(stages.events).toBeGreaterThan(0);
    expect(stages.dispatcherPerSecond).toBeGreaterThan(0);
  },
);

test('a platform with past decisions in its tables is compared with a new one in turns', {
  timeout: 180_000,
}, async () => {
  const { stdout, results } = await runBench('--only', 'history');
  const { writes, deliveries } = results.tableSize;
  expect(stdout).toMatch(/past decisions in the tables +without +with 2,000 +share +target/);
  for (const { new: without, old, share } of [writes, deliveries]) {
    expect([without.length, old.length]).toEqual([2, 2]);
    expect(share).toBeGreaterThan(0);
  }
});

test('memory under a lasting load is measured by period', { timeout: 180_000 }, async () => {
  const { stdout, results } = await runBench('--soak');
  expect(stdout).toMatch(/growth: heap per delivery, resident +-?[\d,.]+ B +-?[\d,.]+ %/);
  const { periods } = results.soak['one process'];
  expect(periods).toHaveLength(4);
  expect(periods[0].platform.heapBytes).toBeGreaterThan(0);
});

test('credit files are read from answers of both bureaus beside the XML parser alone', async () => {
  const { stdout, results } = await runBench('--only', 'credit-files');
  expect(stdout).toMatch(/read into a credit file +[\d,.]+\/s +[\d,.]+\/s/);
  for (const { readPerSecond, shareOfLimit } of Object.values<{
    readPerSecond: number;
    shareOfLimit: number;
  }>(results.creditFiles)) {
    expect(readPerSecond).toBeGreaterThan(0);
    expect(shareOfLimit).toBeGreaterThan(0);
  }
});
