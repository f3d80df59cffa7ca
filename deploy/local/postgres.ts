import { join } from 'node:path';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import type { Process } from '@creditlane/runtime/run';
import { prepareDatabases } from './databases.ts';
import type { Installation } from './installation.ts';
import { step } from './progress.ts';
import type { DatabaseOwner } from './services.ts';

/** Starts the data directory's own PostgreSQL and gives the address of each service's database in it. */
export async function openPostgres(
  { dir, secrets }: Installation,
  { log, closers }: Process,
): Promise<Record<DatabaseOwner, string>> {
  const dataDir = join(dir, 'postgres');
  const password = secrets.postgresPassword;
  const { adminUrl, close } = await step('Starting PostgreSQL', () =>
    startEmbeddedPostgres({ dataDir, password, log }),
  );
  closers.add('PostgreSQL', close);
  return prepareDatabases(adminUrl, secrets);
}
