// `npm test`: the static checks and the tests; with arguments, the selected tests alone. The last line is
// always `N passed, N failed`. Without arguments, CREDITLANE_TEST_ALL=1, as in CI, adds what takes minutes: fault injection,
// outages of Kafka, the platform with each service as a process of its own, and the models of test/protocol, which need
// Java and Maven.
import { parseCLI } from 'vitest/node';
import { checkModels } from '../test/protocol/check-models.ts';
import { runChecks, type Tally } from './checks.ts';
import { type FileResult, runTestFiles } from './run-test-files.ts';
import { keepTemporaryFilesInMemory } from './temporary-files.ts';

const SLOWEST_FILES = 30;

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** The models that cannot be checked count as one that fails. */
function reportModels(error: unknown): Tally {
  process.stderr.write(`the models cannot be checked: ${String(error)}\n`);
  return { passed: 0, failed: 1 };
}

/** Prints where the time of a whole run goes. */
function printSlowest(results: FileResult[]): void {
  print(`\nThe ${SLOWEST_FILES} slowest files: seconds, and those of CPU time without servers`);
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_FILES);
  for (const { file, seconds, cpuSeconds } of slowest) {
    print(`${seconds.toFixed(1).padStart(7)} ${cpuSeconds.toFixed(1).padStart(6)}  ${file}`);
  }
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
// Who selects a test wants to see its failure at once.
const { results, flaky } = await runTestFiles(filter, { ...projects, ...options }, !isSelection);

if (!isSelection) printSlowest(results);
for (const { file, skipped } of results) {
  for (const title of skipped) print(`skipped: ${file}: ${title}`);
}
for (const { file, title, message } of flaky) print(`flaky: ${file} › ${title}\n  ${message}`);
const passed = results.reduce((sum, it) => sum + it.passed, 0);
const failures = results.reduce((sum, it) => sum + it.failures.length, 0);
// A pattern that selects no test fails, because it is probably misspelt.
const failed = checks.failed + models.failed + (passed + failures === 0 ? 1 : failures);
print(`${checks.passed + models.passed + passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
