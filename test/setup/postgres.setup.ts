/**
 * Provides one PostgreSQL server for the whole test run: the one that CREDITLANE_TEST_POSTGRES_URL
 * names, or one that is started here.
 */
import { randomBytes } from 'node:crypto';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import { requestRoleOf } from '@creditlane/postgres/row-security/request-role';
import type {} from '@creditlane/postgres/test-database';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { createDataDir, removeDataDir } from '../platform/temporary-data-dir.ts';

/** Nothing outlives the test run, and tests of crashes start servers of their own. */
const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

/** While autovacuum analyzes any table of a database, a test's own VACUUM leaves dead rows there, and plans can change at any time. */
const NO_AUTOVACUUM = { autovacuum: 'off' };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const prefix = `template_${randomBytes(4).toString('hex')}`;
  project.provide('templatePrefix', prefix);
  const url = process.env.CREDITLANE_TEST_POSTGRES_URL;
  if (url) {
    project.provide('postgresUrl', url);
    return () => dropTemplates(url, prefix);
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

/** Drops the databases whose names begin with the prefix, and their roles. */
async function dropTemplates(url: string, prefix: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    const { rows } = await admin.query<{ id: string }>(
      'SELECT datname AS id FROM pg_database WHERE starts_with(datname, $1)',
      [prefix],
    );
    for (const { id } of rows) {
      await admin.query(`DROP DATABASE ${id} WITH (FORCE)`);
      await admin.query(`DROP ROLE ${requestRoleOf(id)}`);
      await admin.query(`DROP ROLE ${id}`);
    }
  } finally {
    await admin.end();
  }
}
