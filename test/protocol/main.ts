/**
 * `npm run protocol`: checks the models of this folder. With `--large`, the checks that name a larger scope run in
 * that scope, which takes many minutes.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { JarsUnavailableError } from '@creditlane/maven-jars/maven-jars';
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

/** Checks all models; resolves to how many checks passed and failed. */
async function checkModels(large: boolean): Promise<{ passed: number; failed: number }> {
  const classpath = await alloyClasspath();
  const tally = { passed: 0, failed: 0 };
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.als'));
  for (const file of files.sort()) {
    await runModel(classpath, join(import.meta.dirname, file), { large }, (result) => {
      tally[report(basename(file, '.als'), result) ? 'passed' : 'failed'] += 1;
    });
  }
  return tally;
}

try {
  const { passed, failed } = await checkModels(process.argv.includes('--large'));
  print(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof JarsUnavailableError)) throw error;
  process.stderr.write(`\nTHE PROTOCOL IS NOT CHECKED: ${error.message}\n\n`);
  process.exitCode = 1;
}
