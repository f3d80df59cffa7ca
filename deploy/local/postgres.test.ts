import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STOP_SIGNALS } from '@creditlane/embedded-postgres/postmaster';
import { completeSecrets } from '@creditlane/platform/secrets';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, onTestFinished, test } from 'vitest';
import { openDataDir } from './data-dir.ts';
import { openPostgres } from './postgres.ts';

test('the closer of PostgreSQL has longer than all signals to the server take', async () => {
  const dir = await openDataDir(await mkdtemp(join(tmpdir(), 'creditlane-postgres-')));
  const process = createTestProcess('postgres');
  onTestFinished(async () => {
    await process.closers.close();
    await rm(dir, { recursive: true });
  });
  const ports = { api: 0, ops: 0, inbox: 0, simulator: 0, services: [] };
  const secrets = completeSecrets({}, []);
  await openPostgres({ services: [], dir, pidFilesDir: dir, ports, secrets }, process);
  const signalsMs = STOP_SIGNALS.reduce((sum, { waitMs }) => sum + waitMs, 0);
  expect(process.closers.extraMs).toBeGreaterThan(signalsMs - 10_000);
});
