/** Gives the whole test run one PostgreSQL: the one named by the environment, or one of its own. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@creditlane/embedded-postgres/embedded-postgres';
import type {} from '@creditlane/postgres/test-database';
import type { TestProject } from 'vitest/node';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.CREDITLANE_TEST_POSTGRES_URL;
  if (given) {
    project.provide('postgresUrl', given);
    return async () => undefined;
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-test-postgres-'));
  // Run by root, the server is another user's process and must be able to enter.
  await chmod(dataDir, 0o755);
  const password = randomBytes(24).toString('base64url');
  const postgres = await startEmbeddedPostgres({ dataDir, password });
  project.provide('postgresUrl', postgres.adminUrl);
  return async () => {
    await postgres.close();
    await rm(dataDir, { recursive: true, force: true });
  };
}
