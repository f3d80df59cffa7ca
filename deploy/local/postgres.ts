// The PostgreSQL of an installation, with the services' databases.
import { join } from 'node:path';
import {
  findServerPort,
  startEmbeddedPostgres,
} from '@creditlane/embedded-postgres/embedded-postgres';
import { STOP_WITHIN_MS } from '@creditlane/embedded-postgres/postmaster';
import { type DatabaseUrls, prepareDatabases } from '@creditlane/platform/databases';
import type { Process } from '@creditlane/runtime/run';
import { HOST } from './host.ts';
import type { Installation } from './installation.ts';
import { step } from './progress.ts';
import { StartError } from './start-error.ts';

/** Of the data directory. */
const FOLDER = 'postgres';

/** Starts the data directory's PostgreSQL and returns the URL of each service's database in it. */
export async function openPostgres(
  { dir, secrets, services }: Installation,
  { log, closers }: Process,
): Promise<DatabaseUrls> {
  const dataDir = join(dir, FOLDER);
  const password = secrets.postgresPassword;
  const { socketUrl, close } = await step('Starting PostgreSQL', () =>
    startEmbeddedPostgres({ dataDir, password, log }),
  );
  closers.add('PostgreSQL', close, STOP_WITHIN_MS);
  return prepareDatabases(socketUrl, secrets, '', services);
}

/** The address of the PostgreSQL that runs on the data directory. Throws `StartError` while none does. */
export async function findServerUrl(dir: string): Promise<string> {
  const port = await findServerPort(join(dir, FOLDER));
  if (port !== undefined) return `postgres://${HOST}:${port}`;
  throw new StartError(`Nothing runs on ${dir}. Name another data directory with --data-dir.`);
}
