import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates an empty directory that PostgreSQL can enter. The name contains `purpose`. */
export async function createDataDir(purpose: string): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), `creditlane-${purpose}-`));
  // When root runs the tests, PostgreSQL runs as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  return dataDir;
}

/** Removes the directory. A server that was killed may have a process left that still creates a file, so it is tried again. */
export async function removeDataDir(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
