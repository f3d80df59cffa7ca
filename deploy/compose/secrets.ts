// `npm run secrets`: makes deploy/.env, the secrets that deploy/compose.yaml refers to, or completes it. With
// --kubernetes it also prints them as the Secrets of the Helm chart.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { secretManifests } from '@creditlane/chart/secret-manifests';
import { SERVICES } from '@creditlane/platform/services';
import { openEnvFile, parseEnvFile } from './env-file.ts';

const HELP = `npm run secrets makes or completes deploy/.env.
  --kubernetes PREFIX   also prints the Secrets of charts/creditlane; PREFIX is its secretPrefix
  --admin-url URL       with the Secret of the Job that makes the databases on that server
`;

const FILE = fileURLToPath(new URL('../.env', import.meta.url));

const RESULTS = {
  made: 'is made. Keep it: without its key ring no sealed data can be read.',
  completed: 'has what was missing; every line that was there is kept.',
  unchanged: 'has every secret already; nothing was changed.',
};

function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const options = { kubernetes: text, 'admin-url': text, help: { type: 'boolean' } } as const;
    const { values } = parseArgs({ options });
    if (values['admin-url'] !== undefined && values.kubernetes === undefined) {
      throw new Error('--admin-url needs --kubernetes');
    }
    return values;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${HELP}`);
    process.exit(2);
  }
}

const options = readOptions();
if (options.help) {
  process.stderr.write(HELP);
  process.exit(0);
}
const result = await openEnvFile(FILE, SERVICES);
// The manifests alone on the standard output, for kubectl: `npm run --silent` adds no lines of npm's own.
process.stderr.write(`${FILE} ${RESULTS[result]}\n`);
const { kubernetes: prefix, 'admin-url': adminDatabaseUrl } = options;
if (prefix !== undefined) {
  const variables = parseEnvFile(await readFile(FILE, 'utf8'));
  process.stdout.write(secretManifests(SERVICES, variables, { prefix, adminDatabaseUrl }));
}
