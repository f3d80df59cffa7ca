import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, onTestFinished, test } from 'vitest';
import { HOST } from './host.ts';
import { runInstallation } from './installation.ts';
import { StartError } from './start-error.ts';

test('the webhook inbox answers before the platform starts', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'creditlane-installation-'));
  const process = createTestProcess('installation');
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  let answered: number | undefined;
  const started = runInstallation(
    { port: 0, dataDir, reset: false },
    0,
    process,
    async ({ ports }) => {
      answered = (await fetch(`http://${HOST}:${ports.inbox}/a-webhook`, { method: 'POST' }))
        .status;
      throw new StartError('seen enough');
    },
  );
  await expect(started).rejects.toThrow('seen enough');
  await process.closers.close();
  expect(answered).toBe(204);
});
