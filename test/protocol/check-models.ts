import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { alloyClasspath, type CheckResult, runModel } from './model-run.ts';

const print = (line: string) => void process.stdout.write(`${line}\n`);

/** One line for a check; `passed` is whether it found what it should. */
function report(model: string, { name, bug, foundCounterexample, seconds }: CheckResult): boolean {
  const passed = foundCounterexample === (bug !== undefined);
  const expected = bug === undefined ? 'holds' : `finds ${bug}`;
  const outcome = foundCounterexample ? 'has a counterexample' : 'has no counterexample';
  const what = passed ? expected : `${outcome}, and should: ${expected}`;
  print(`${passed ? '✓' : '✗'} ${model}: ${name} ${what} (${seconds.toFixed(1)} s)`);
  return passed;
}

/**
 * Checks all models, at once because each uses one processor. `large` takes each check in its larger scope. Prints a line for
 * each check; resolves to how many passed and failed. Throws `JarsUnavailableError`.
 */
export async function checkModels(large = false): Promise<{ passed: number; failed: number }> {
  const classpath = await alloyClasspath();
  const tally = { passed: 0, failed: 0 };
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.als'));
  const runs = files.map((file) =>
    runModel(classpath, join(import.meta.dirname, file), { large }, (result) => {
      tally[report(basename(file, '.als'), result) ? 'passed' : 'failed'] += 1;
    }),
  );
  // All have ended before an error is thrown, so that none runs on beside the tests.
  const stopped = (await Promise.allSettled(runs)).find(({ status }) => status === 'rejected');
  if (stopped?.status === 'rejected') throw stopped.reason;
  return tally;
}
