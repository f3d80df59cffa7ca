// `npm run secrets`: makes deploy/.env, the secrets that deploy/compose.yaml refers to, or completes it.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SERVICES } from '@creditlane/platform/services';
import { completeEnvFile } from './env-file.ts';

const FILE = fileURLToPath(new URL('../.env', import.meta.url));

const kept = await readFile(FILE, 'utf8').catch((error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return '';
  throw error;
});
const text = completeEnvFile(kept, SERVICES);
if (text === kept) {
  process.stdout.write(`${FILE} has every secret already; nothing was changed.\n`);
} else {
  await writeFile(FILE, text, { mode: 0o600 });
  process.stdout.write(
    kept === ''
      ? `${FILE} is made. Keep it: without its key ring no sealed data can be read.\n`
      : `${FILE} has what was missing; every line that was there is kept.\n`,
  );
}
