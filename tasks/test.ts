// `npm test`: the checks, then every test; with arguments, only the tests these choose.
// The last line is always `N passed, N failed`.
import type { TestModule, Vitest } from 'vitest/node';
import { parseCLI, startVitest } from 'vitest/node';
import { runChecks, type Tally } from './checks.ts';

/** Counts the tests, and with the failed ones everything that kept a test from running. */
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

/** Errors of imports and of hooks, which belong to no test. */
function errorsOutsideTests(module: TestModule): number {
  const suites = [...module.children.allSuites()];
  return [module, ...suites].reduce((sum, suite) => sum + suite.errors().length, 0);
}

const args = process.argv.slice(2);
const checks = args.length === 0 ? await runChecks() : { passed: 0, failed: 0 };

const { filter, options } = parseCLI(['vitest', 'run', ...args]);
const vitest = await startVitest(filter, { ...options, run: true, watch: false });
await vitest.close();

const tests = tallyOf(vitest);
// Nothing to run is a mistake in the pattern, not a success.
if (tests.passed + tests.failed === 0) tests.failed = 1;
for (const title of tests.skipped) process.stdout.write(`skipped: ${title}\n`);
const failed = checks.failed + tests.failed;
process.stdout.write(`${checks.passed + tests.passed} passed, ${failed} failed\n`);
process.exit(failed === 0 ? 0 : 1);
