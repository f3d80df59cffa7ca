// A test that fails by chance does not sink a run, and is not hidden.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { runTestFiles } from './run-test-files.ts';

type Outcome = Awaited<ReturnType<typeof runTestFiles>>;

const PROGRAM = join(import.meta.dirname, 'test-run-test-files.ts');

/** Code that runs `statement` in the first run of its file. */
const once = (statement: string) => `
  import { existsSync, writeFileSync } from 'node:fs';
  const mark = import.meta.filename + '.ran';
  const isFirst = !existsSync(mark);
  writeFileSync(mark, '');
  const firstTime = () => { if (isFirst) { ${statement} } };`;
const byChance = `${once("throw new Error('too slow')")}
  test('by chance', firstTime);
  test('never', () => {});`;
const always = `test('always', () => { throw new Error('broken'); });`;

async function run(files: Record<string, string>, again = 'again') {
  const folder = await mkdtemp(join(tmpdir(), 'run-test-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [name, code] of Object.entries(files)) {
    await writeFile(join(folder, `${name}.test.mjs`), code);
  }
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, folder, again]);
  const { results, flaky }: Outcome = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  const failed = results.flatMap(({ file, failures }) => failures.map((it) => ({ ...it, file })));
  const passed = results.reduce((sum, it) => sum + it.passed, 0);
  return { passed, failed, flaky, runsAgain: stdout.split('runs once more, alone').length - 1 };
}

test('a test that fails once counts as passed, and is reported as flaky with its first message', async () => {
  expect(await run({ a: byChance, b: `test('other', () => {});` })).toEqual({
    passed: 3,
    failed: [],
    flaky: [{ file: 'a.test.mjs', title: 'by chance', message: 'too slow' }],
    runsAgain: 1,
  });
});

test('a test that fails again has failed, also in a file with a flaky one', async () => {
  expect(await run({ a: byChance + always })).toEqual({
    passed: 2,
    failed: [{ file: 'a.test.mjs', title: 'always', message: 'broken' }],
    flaky: [{ file: 'a.test.mjs', title: 'by chance', message: 'too slow' }],
    runsAgain: 1,
  });
});

test.each([
  [
    'a hook',
    'its imports and hooks',
    `${once("throw new Error('no')")} beforeAll(firstTime); test('t', () => {});`,
  ],
  [
    'a suite’s hook',
    's',
    `${once("throw new Error('no')")} describe('s', () => { afterAll(firstTime); test('t', () => {}); });`,
  ],
  [
    'an import',
    'its imports and hooks',
    `${once("throw new Error('no')")} firstTime(); test('t', () => {});`,
  ],
  [
    'a promise that nobody awaits',
    'an error outside of its tests',
    `${once("Promise.reject(new Error('no'))")} test('t', async () => {
       firstTime();
       await new Promise(setImmediate);
     });`,
  ],
])('an error of %s that does not come again is flaky, too', async (_what, title, code) => {
  expect(await run({ a: code })).toEqual({
    passed: 1,
    failed: [],
    flaky: [{ file: 'a.test.mjs', title, message: 'no' }],
    runsAgain: 1,
  });
});

test('a file that a second run does not reach keeps its failure', async () => {
  const code = `${once("throw new Error('too slow')")}
    test('by chance', firstTime);
    if (!isFirst) process.kill(process.pid, 'SIGKILL');`;
  const failed = [{ title: 'by chance' }];
  expect(await run({ a: code })).toMatchObject({ failed, flaky: [], runsAgain: 1 });
});

test('of six failing files none runs again, and five each do', async () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, byChance]));
  expect(await run(many(6))).toMatchObject({ flaky: [], runsAgain: 0, failed: { length: 6 } });
  expect(await run(many(5))).toMatchObject({ failed: [], runsAgain: 5, flaky: { length: 5 } });
});

test('without a second run a failure is final', async () => {
  expect(await run({ a: byChance }, 'once')).toMatchObject({ runsAgain: 0, failed: { length: 1 } });
});
