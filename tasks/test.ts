// `npm test`: the static checks and the tests; with arguments, the selected tests alone. The last line is
// always `N passed, N failed`. Without arguments, CREDITLANE_TEST_ALL=1, as in CI, adds what takes minutes: fault injection,
// outages of Kafka, the platform with each service as a process of its own, and the models of test/protocol, which need
// Java and Maven.
import type { TestModule, Vitest } from 'vitest/node';
import { parseCLI, startVitest } from 'vitest/node';
import { checkModels } from '../test/protocol/check-models.ts';
import { runChecks, type Tally } from './checks.ts';
import { keepTemporaryFilesInMemory } from './temporary-files.ts';

/** Counts the tests. Errors that kept tests from running count as failed tests. */
function tallyOf(vitest: Vitest): Tally & { skipped: string[] } {
  const tally = { passed: 0, failed: 0, skipped: [] as string[] };
  for (const module of vitest.state.getTestModules()) {
    tally.failed += errorsOutsideTests(module);
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === 'passed' || state === 'failed') tally[state] += 1;
      else tally.skipped.push(`${module.relativeModuleId}: ${test.fullName}`);
    }
  }
  tally.failed += vitest.state.getUnhandledErrors().length;
  return tally;
}

/** The number of errors in imports and hooks, which belong to no test. */
function errorsOutsideTests(module: TestModule): number {
  const suites = [...module.children.allSuites()];
  return [module, ...suites].reduce((sum, suite) => sum + suite.errors().length, 0);
}

/** The models that cannot be checked count as one that fails. */
function reportModels(error: unknown): Tally {
  process.stderr.write(`the models cannot be checked: ${String(error)}\n`);
  return { passed: 0, failed: 1 };
}

// npm drops the `--` of `npm test -- relay`; `node bootstrap.mjs test -- relay` passes it on. vitest would
// ignore the arguments after `--` and run every test.
const args = process.argv.slice(2).filter((arg) => arg !== '--');
const none: Tally = { passed: 0, failed: 0 };
const isSelection = args.length > 0;
const isAll = !isSelection && process.env.CREDITLANE_TEST_ALL === '1';
const checks = isSelection ? none : await runChecks();
const models = isAll ? await checkModels().catch(reportModels) : none;

// What other tasks run through this one writes for a long time, such as the long fault runs: that is for a disk. Node 24.0,
// which is pinned on arm64 Macs, has no import.meta.main.
if (process.argv[1] === import.meta.filename) keepTemporaryFilesInMemory();
const projects = isSelection || isAll ? {} : { project: ['tests'] };
const { filter, options } = parseCLI(['vitest', 'run', ...args]);
const vitest = await startVitest(filter, { ...projects, ...options, run: true, watch: false });
await vitest.close();

const tests = tallyOf(vitest);
// A pattern that selects no test fails, because it is probably misspelt.
if (tests.passed + tests.failed === 0) tests.failed = 1;
for (const title of tests.skipped) process.stdout.write(`skipped: ${title}\n`);
const failed = checks.failed + models.failed + tests.failed;
process.stdout.write(`${checks.passed + models.passed + tests.passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
