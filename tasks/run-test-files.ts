// Runs test files with vitest. Files that fail are run once more at the end, alone and one at a time, so that a test that
// fails by chance does not keep the others' result from counting; `test/README.md` says what to do about such a test.
import type { CliOptions, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';
import { startVitest } from 'vitest/node';

/** With more failing files than this, a defect is likelier than chance, and no file is run again. */
const MAX_FAILING_FILES = 5;

interface Failure {
  /** The test, or the suite or file whose hooks or imports failed. */
  title: string;
  message: string;
}

/** What the tests of one file gave, in one project of the configuration. */
export interface FileResult {
  /** The path, relative to the root. */
  file: string;
  /** What runs the file again. Undefined for errors that belong to no file. */
  module: { id: string; project: string } | undefined;
  passed: number;
  failures: Failure[];
  /** The titles of skipped tests. */
  skipped: string[];
  seconds: number;
  /** The CPU time of the file's worker and of the processes that it started and that have ended. */
  cpuSeconds: number;
}

/** A failure of the first run that did not come again. */
export interface FlakyFailure extends Failure {
  file: string;
}

/**
 * Runs the files that match `filter`; `runsFailingFilesAgain` says whether the failing ones run once more. The result of a
 * file that ran twice is that of its second run.
 */
export async function runTestFiles(
  filter: string[],
  options: CliOptions,
  runsFailingFilesAgain: boolean,
): Promise<{ results: FileResult[]; flaky: FlakyFailure[] }> {
  const results = await runOnce(filter, options);
  const failing = results.filter(({ failures }) => failures.length > 0);
  const flaky: FlakyFailure[] = [];
  if (!runsFailingFilesAgain || failing.length > MAX_FAILING_FILES) return { results, flaky };
  for (const first of failing) {
    if (first.module === undefined) continue;
    const { id, project } = first.module;
    process.stdout.write(`\n${first.file} failed and runs once more, alone.\n`);
    const second = await runOnce([id], { ...options, project: project === '' ? [] : [project] });
    // A run in which no test of the file passed, or that did not get as far as the file, leaves the first result.
    if (!second.some(({ module, passed }) => module?.id === id && passed > 0)) continue;
    results.splice(results.indexOf(first), 1, ...second);
    const failedAgain = second.flatMap(({ failures }) => failures.map(({ title }) => title));
    const gone = first.failures.filter(({ title }) => !failedAgain.includes(title));
    flaky.push(...gone.map((failure) => ({ ...failure, file: first.file })));
  }
  return { results, flaky };
}

async function runOnce(filter: string[], options: CliOptions): Promise<FileResult[]> {
  const vitest = await startVitest(filter, { ...options, run: true, watch: false });
  await vitest.close();
  return resultsOf(vitest);
}

function resultsOf(vitest: Vitest): FileResult[] {
  const results = vitest.state.getTestModules().map(resultOf);
  // An error that no test awaited, such as a rejected promise, belongs to the file that its worker ran.
  for (const error of vitest.state.getUnhandledErrors() as Record<string, unknown>[]) {
    const failure = { title: 'an error outside of its tests', message: String(error.message) };
    const files = results.filter(({ module }) => module?.id === error.VITEST_TEST_PATH);
    for (const { failures } of files) failures.push(failure);
    if (files.length === 0) results.push({ ...NO_FILE, failures: [failure] });
  }
  return results;
}

const NO_FILE: Omit<FileResult, 'failures'> = {
  file: 'no test file',
  module: undefined,
  passed: 0,
  skipped: [],
  seconds: 0,
  cpuSeconds: 0,
};

function resultOf(module: TestModule): FileResult {
  const tests = [...module.children.allTests()];
  const suites = [module, ...module.children.allSuites()];
  const failed = tests.filter((it) => it.result().state === 'failed');
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  return {
    file: module.relativeModuleId,
    module: { id: module.moduleId, project: module.project.name },
    passed: tests.filter((it) => it.result().state === 'passed').length,
    failures: [...failed.map(failureOfTest), ...suites.flatMap(failuresOfHooks)],
    skipped: tests.filter((it) => it.result().state === 'skipped').map(({ fullName }) => fullName),
    seconds: (setupDuration + collectDuration + duration) / 1_000,
    cpuSeconds: module.meta().cpuSeconds ?? 0,
  };
}

function failureOfTest(test: TestCase): Failure {
  const [error] = test.result().errors ?? [];
  return { title: test.fullName, message: error?.message ?? 'it failed without an error' };
}

/** The errors in hooks and imports, which belong to no test. */
function failuresOfHooks(suite: TestModule | TestSuite): Failure[] {
  const title = suite.type === 'module' ? 'its imports and hooks' : suite.fullName;
  return suite.errors().map(({ message }) => ({ title, message }));
}
