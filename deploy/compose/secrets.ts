// `npm run secrets`: makes deploy/.env, the secrets that deploy/compose.yaml refers to, or completes it.
import { fileURLToPath } from 'node:url';
import { SERVICES } from '@creditlane/platform/services';
import { openEnvFile } from './env-file.ts';

if (process.argv.length > 2) {
  process.stderr.write('npm run secrets makes or completes deploy/.env; it has no options.\n');
  process.exit(process.argv[2] === '--help' ? 0 : 2);
}

const FILE = fileURLToPath(new URL('../.env', import.meta.url));

const RESULTS = {
  made: 'is made. Keep it: without its key ring no sealed data can be read.',
  completed: 'has what was missing; every line that was there is kept.',
  unchanged: 'has every secret already; nothing was changed.',
};

process.stdout.write(`${FILE} ${RESULTS[await openEnvFile(FILE, SERVICES)]}\n`);
