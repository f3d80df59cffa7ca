// The benchmarks run and report every figure; none of the figures is a test's limit. `npm test` runs the shortest
// part of `npm run bench`, and `npm run test:bench`, which takes two minutes, runs all of them.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describeWithKafka, findKafka } from '@creditlane/events/kafka/test-kafka';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runToExit } from './platform/run-to-exit.ts';

const run = promisify(execFile);
const BENCH = resolve(import.meta.dirname, '../bench');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'creditlane-bench-test-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Runs the benchmarks; returns the printed text and the content of the results file. */
async function runBench(...args: string[]) {
  const file = join(dir, 'results.json');
  const { stdout } = await run(process.execPath, [
    `${BENCH}/main.ts`,
    '--smoke',
    '--out',
    file,
    ...args,
  ]);
  return { stdout, results: JSON.parse(await readFile(file, 'utf8')) };
}

test('credit files are read from answers of both bureaus beside the XML parser alone', {
  timeout: 60_000,
}, async () => {
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

test.each([
  { figure: '2', printed: 'ok     rows: 2 (at most 2)\n', code: 0 },
  { figure: '2.1', printed: 'ABOVE  rows: 2.1 (at most 2)\n', code: 1 },
  { figure: 'NaN', printed: 'ABOVE  rows: NaN (at most 2)\n', code: 1 },
])(
  'a measurement on large tables of $figure against a limit of 2 exits with $code',
  async ({ figure, printed, code }) => {
    const program = `const { measureScale } = await import('${BENCH}/scale-subject.ts');
    await measureScale(async (scale) => scale.limit('rows', ${figure}, 2));`;
    const ended = await runToExit(process.execPath, ['--input-type=module', '--eval', program]);
    expect(ended).toMatchObject({ stdout: printed, code });
  },
);

test('a fixed rate with which the platform does not keep up has no figures, and the next one is measured', async () => {
  const program = `
    import { createServer } from 'node:http';
    import { startWorker } from '${BENCH}/platform/worker.ts';
    const answers = { '/slow/': [429, '{"code":"too_many_under_way"}'], '/fast/': [200, '{}'] };
    const server = createServer((req, res) => {
      const [status, body] = answers[req.url.slice(0, 6)];
      req.resume().on('end', () => res.writeHead(status).end(body));
    }).listen(0, '127.0.0.1', async () => {
      const worker = startWorker('load/load-worker.ts');
      const kind = { writer: 'one', endsWith: 'answer' };
      const kept = [];
      for (const path of ['/slow', '/fast']) {
        const baseUrl = 'http://127.0.0.1:' + server.address().port + path;
        const writer = { baseUrl, key: '', creditorId: 'c', applicationIds: ['a'] };
        await worker.call('setWriter', { name: 'one', writer });
        const load = { kind, perSecond: 100, warmUpMs: 0, measureMs: 200 };
        const measured = await worker.call('fixedRateIfKeptUp', load);
        kept.push(measured === null ? 'not kept up' : measured.latencyMs.p50 > 0);
      }
      console.log(JSON.stringify(kept));
      await worker.close();
      server.close();
    });`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program]);
  expect(JSON.parse(stdout)).toEqual(['not kept up', true]);
});

test('the command for large tables names its subjects when it is given none', async () => {
  const refused = await runToExit(process.execPath, [`${BENCH}/scale.ts`]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/Name one subject:\n.*key-rotation +\w/s);
});

const runsAll = process.env.BENCHMARKS === 'all';
const kafka = runsAll ? await findKafka() : undefined;

if (runsAll) {
  describeWithKafka(kafka, 'with Kafka', () => {
    test('the run mode processes is measured beside the limit, with the relay and the dispatcher alone', {
      timeout: 180_000,
    }, async () => {
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
    });
  });

  test('memory under a lasting load is measured by period', { timeout: 180_000 }, async () => {
    const { stdout, results } = await runBench('--soak');
    expect(stdout).toMatch(/growth: heap per delivery, resident +-?[\d,.]+ B +-?[\d,.]+ %/);
    const { periods } = results.soak['one process'];
    expect(periods).toHaveLength(4);
    expect(periods[0].platform.heapBytes).toBeGreaterThan(0);
  });
}
