// The benchmarks run and report every figure; none of the figures is a test's limit. `npm test` runs the shortest
// part of the measurements, and `npm run test:bench`, which takes two minutes, runs all of them.
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

/** Measures a subject; returns the printed text and its figures. */
async function runBench(subject: string) {
  const file = join(dir, 'results.json');
  const args = [`${BENCH}/main.ts`, '--smoke', '--out', file, subject];
  const { stdout } = await run(process.execPath, args);
  const results = JSON.parse(await readFile(file, 'utf8'));
  return { stdout, figures: results[subject] as Record<string, number> };
}

test('credit files are read from answers of both bureaus beside the XML parser alone', {
  timeout: 60_000,
}, async () => {
  const { stdout, figures } = await runBench('credit-files');
  expect(stdout).toMatch(/^transunion: read into a credit file: [\d.]+ \/s$/m);
  for (const name of ['equifax', 'transunion']) {
    expect(figures[`${name}: read into a credit file`]).toBeGreaterThan(0);
    expect(figures[`${name}:   as a share of the parser alone`]).toBeGreaterThan(0);
  }
});

test.each([
  { figure: '2', printed: 'ok     rows: 2 (at most 2)\n', exceeded: 0 },
  { figure: '2.1', printed: 'ABOVE  rows: 2.1 (at most 2)\n', exceeded: 1 },
  { figure: 'NaN', printed: 'ABOVE  rows: NaN (at most 2)\n', exceeded: 1 },
])(
  'a figure of $figure with a limit of 2 counts $exceeded times as above it',
  async ({ figure, printed, exceeded }) => {
    const program = `const { runMeasure } = await import('${BENCH}/harness.ts');
    const options = { nodeFlags: [] };
    const bench = await runMeasure(async (bench) => bench.limit('rows', ${figure}, 2), options);
    process.exitCode = bench.exceeded;`;
    const ended = await runToExit(process.execPath, ['--input-type=module', '--eval', program]);
    expect(ended).toMatchObject({ stdout: printed, code: exceeded });
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

test('the command names its subjects when it is given none of them', async () => {
  const refused = await runToExit(process.execPath, [`${BENCH}/main.ts`, 'speed']);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/Name one subject, or none:\n.*key-rotation +\w/s);
});

const runsAll = process.env.BENCHMARKS === 'all';
const kafka = runsAll ? await findKafka() : undefined;

if (runsAll) {
  describeWithKafka(kafka, 'with Kafka', () => {
    test('a process for each service is measured beside PostgreSQL alone', {
      timeout: 180_000,
    }, async () => {
      const { stdout, figures } = await runBench('processes');
      expect(stdout).toMatch(/as a share of PostgreSQL alone: [\d.]+ % \(target ≥ 35 %\)/);
      expect(stdout).toMatch(/request → delivered webhook: [\d.]+ \/s \(target ≥ 3,000\/s\)/);
      for (const name of ['gateway', 'decisions', 'PostgreSQL', 'Kafka']) {
        expect(figures[`    of ${name}`]).toBeGreaterThan(0);
      }
      for (const figure of ['p50', 'p99', 'CPU of each']) {
        expect(figures[`4/s to 4 applications: ${figure}`]).toBeGreaterThan(0);
      }
      expect(figures['without any request: of a core']).toBeGreaterThan(0);
      expect(figures['webhooks delivered from a backlog']).toBeGreaterThan(0);
    });
  });

  test('memory under a lasting load is measured by period', { timeout: 180_000 }, async () => {
    const { stdout, figures } = await runBench('soak');
    expect(stdout.match(/^after [\d.]+ s: platform heap [\d.]+ MiB/gm)).toHaveLength(4);
    expect(figures).toHaveProperty(['platform: growth of the heap for each delivery']);
  });
}
