// The PostgreSQL of an installation, with the services' databases.
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { STOP_WITHIN_MS } from '@creditlane/embedded-postgres/postmaster';
import { type DatabaseUrls, prepareDatabases } from '@creditlane/platform/databases';
import type { Process } from '@creditlane/runtime/run';
import type { Installation } from './installation.ts';
import { step } from './progress.ts';

/** Starts the data directory's PostgreSQL and returns the URL of each service's database in it. */
export async function openPostgres(
  { dir, secrets, services }: Installation,
  { log, closers }: Process,
): Promise<DatabaseUrls> {
  const dataDir = join(dir, 'postgres');
  const password = secrets.postgresPassword;
  const { socketUrl, close } = await step('Starting PostgreSQL', () =>
    startEmbeddedPostgres({ dataDir, password, log }),
  );
  closers.add('PostgreSQL', close, STOP_WITHIN_MS);
  return prepareDatabases(socketUrl, secrets, '', services);
}
