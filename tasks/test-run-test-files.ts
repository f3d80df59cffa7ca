// For run-test-files.test.ts: runs the test files in the folder that the first argument names, and prints the outcome as JSON.
import { runTestFiles } from './run-test-files.ts';

const [root = '', again = ''] = process.argv.slice(2);
const outcome = await runTestFiles(
  [],
  { root, config: false, globals: true, include: ['*.test.mjs'], reporters: [] },
  again === 'again',
);
process.stdout.write(`\n${JSON.stringify(outcome)}\n`);
process.exit(0);
