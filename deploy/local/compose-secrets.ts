// `npm run secrets`: what deploy/compose.yaml needs to know and nobody else may, made once.
import { access, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { makeSecrets } from '@creditlane/platform/secrets';
import { composeVariables } from './compose-variables.ts';

const FILE = fileURLToPath(new URL('../.env', import.meta.url));

const isThere = await access(FILE).then(
  () => true,
  () => false,
);
if (isThere) {
  process.stdout.write(`${FILE} is there already and stays: the databases know its passwords.\n`);
} else {
  const lines = Object.entries(composeVariables(makeSecrets())).map(
    ([name, value]) => `${name}='${value}'\n`,
  );
  await writeFile(FILE, lines.join(''), { mode: 0o600, flag: 'wx' });
  process.stdout.write(
    `${FILE} is made. Keep it: without its key ring no sealed data can be read.\n`,
  );
}
