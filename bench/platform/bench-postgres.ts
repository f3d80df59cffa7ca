/** The PostgreSQL of a measurement, with a data directory of its own. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '@creditlane/embedded-postgres/embedded-postgres';
import type { Closers } from '@creditlane/runtime/closers';

/** Starts an empty PostgreSQL that keeps every commit over a crash. `dataDir` is removed after it has stopped. */
export async function startBenchPostgres(
  closers: Closers,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedPostgres & { dataDir: string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-bench-'));
  closers.add('data directory', () => rm(dataDir, { recursive: true, force: true }));
  // When root runs the benchmarks, PostgreSQL runs as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  const password = randomBytes(24).toString('base64url');
  const postgres = await startEmbeddedPostgres({ dataDir, password, settings });
  closers.add('PostgreSQL', postgres.close);
  return { ...postgres, dataDir };
}
