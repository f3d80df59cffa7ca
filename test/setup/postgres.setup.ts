/**
 * Provides one PostgreSQL server for the whole test run: the one that CREDITLANE_TEST_POSTGRES_URL
 * names, or one that is started here.
 */
import { randomBytes } from 'node:crypto';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import type {} from '@creditlane/postgres/test-database';
import type { TestProject } from 'vitest/node';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';

/** Nothing outlives the test run, and tests of crashes start servers of their own. */
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** While autovacuum analyzes any table of a database, a test's own VACUUM leaves dead rows there, and plans can change at any time. */
const NO_AUTOVACUUM = { autovacuum: 'off' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env.CREDITLANE_TEST_POSTGRES_URL;
  if (url) {
    project.provide('postgresUrl', url);
    return async () => undefined;
  }
  const dataDir = await createDataDir('test-postgres');
  const password = randomBytes(24).toString('base64url');
  const settings = { ...NOT_DURABLE, ...NO_AUTOVACUUM };
  const postgres = await startEmbeddedPostgres({ dataDir, password, settings });
  project.provide('postgresUrl', postgres.adminUrl);
  return async () => {
    await postgres.close();
    await removeDataDir(dataDir);
  };
}
