/**
 * `npm run protocol`: checks the models of this folder. With `--large`, the checks that name a larger scope run in
 * that scope, which takes many minutes.
 */
import { JarsUnavailableError } from '@creditlane/maven-jars/maven-jars';
import { checkModels } from './check-models.ts';

try {
  const { passed, failed } = await checkModels(process.argv.includes('--large'));
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof JarsUnavailableError)) throw error;
  process.stderr.write(`\nTHE PROTOCOL IS NOT CHECKED: ${error.message}\n\n`);
  process.exitCode = 1;
}
