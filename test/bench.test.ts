// The benchmarks measure what they say they measure, though not here: nothing is timed.
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

/** What it prints and what it writes. */
async function bench(...args: string[]) {
  const file = join(dir, 'results.json');
  const { stdout } = await run(process.execPath, [MAIN, '--smoke', '--out', file, ...args]);
  return { stdout, findings: JSON.parse(await readFile(file, 'utf8')) };
}

const kafka = await openTestKafka();
await kafka?.close();

test.skipIf(kafka === undefined)(
  'services by themselves are measured beside the limit, the relay and the dispatcher alone too',
  { timeout: 180_000 },
  async () => {
    const { stdout, findings } = await bench('--only', 'processes');
    const { writes, deliveries, deliveriesAtHalfLoad, stages } = findings.shapes.processes;
    expect(stdout).toMatch(/as a share of the limit +[\d.]+ % +≥ 30 %/);
    expect(stdout).toMatch(/request → delivered webhook +[\d,.]+\/s +≥ 2,400\/s/);
    expect(stdout).toMatch(/CPU of a delivery, processes: .*decisions .*PostgreSQL .*Kafka /);
    expect(writes.shareOfLimit).toBeGreaterThan(0);
    expect(deliveries.cost.byProcess.gateway).toBeGreaterThan(0);
    const { latencyMs, sinceCommitMs } = deliveriesAtHalfLoad;
    expect(sinceCommitMs.p50).toBeGreaterThan(0);
    expect(sinceCommitMs.p50).toBeLessThan(latencyMs.p50);
    expect(stages.events).toBeGreaterThan(0);
    expect(stages.dispatcherPerSecond).toBeGreaterThan(0);
  },
);

test('one process is measured with a long past and without, in turns', {
  timeout: 180_000,
}, async () => {
  const { stdout, findings } = await bench('--only', 'history');
  const { writes, deliveries } = findings.burden;
  expect(stdout).toMatch(/decisions in the tables +without +with 2,000 +share +target/);
  for (const { new: without, old, share } of [writes, deliveries]) {
    expect([without.length, old.length]).toEqual([2, 2]);
    expect(share).toBeGreaterThan(0);
  }
});

test('memory is watched under a lasting load', { timeout: 180_000 }, async () => {
  const { stdout, findings } = await bench('--soak');
  expect(stdout).toMatch(/growth, by delivery +-?[\d,.]+ B +-?[\d,.]+ %/);
  const { periods } = findings.soaks['one process'];
  expect(periods).toHaveLength(4);
  expect(periods[0].platform.heapBytes).toBeGreaterThan(0);
});
