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
  --admin-url-file F    with the Secret of the Job that makes the databases; the file F has the URL of a database of the
                        server, with a user who may create databases and roles
`;

const FILE = fileURLToPath(new URL('../.env', import.meta.url));

const RESULTS = {
  made: 'is made. Keep it: without its key ring no sealed data can be read.',
  completed: 'has what was missing; every line that was there is kept.',
  unchanged: 'has every secret already; nothing was changed.',
};

async function readOptions() {
  const text = { type: 'string' } as const;
  try {
    const options = {
      kubernetes: text,
      'admin-url-file': text,
      help: { type: 'boolean' },
    } as const;
    const { kubernetes, 'admin-url-file': adminUrlFile, help } = parseArgs({ options }).values;
    if (adminUrlFile !== undefined && kubernetes === undefined) {
      throw new Error('--admin-url-file needs --kubernetes');
    }
    const adminDatabaseUrl = adminUrlFile && (await readFile(adminUrlFile, 'utf8')).trim();
    if (adminDatabaseUrl !== undefined && !URL.canParse(adminDatabaseUrl)) {
      throw new Error(`${adminUrlFile} must have one absolute URL`);
    }
    return { prefix: kubernetes, adminDatabaseUrl, help };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${HELP}`);
    process.exit(2);
  }
}

const { prefix, adminDatabaseUrl, help } = await readOptions();
if (help) {
  process.stderr.write(HELP);
  process.exit(0);
}
const result = await openEnvFile(FILE, SERVICES);
// The manifests alone on the standard output, for kubectl: `npm run --silent` adds no lines of npm's own.
process.stderr.write(`${FILE} ${RESULTS[result]}\n`);
if (prefix !== undefined) {
  const variables = parseEnvFile(await readFile(FILE, 'utf8'));
  process.stdout.write(secretManifests(SERVICES, variables, { prefix, adminDatabaseUrl }));
}
