import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { HOST } from './host.ts';
import { type Installation, runInstallation } from './installation.ts';
import { StartError } from './start-error.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'creditlane-installation-'));
});

/** Runs an installation until its platform is about to start, and looks at it then. */
async function openInstallation(reset: boolean, look: (it: Installation) => Promise<void>) {
  const process = createTestProcess('installation');
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const started = runInstallation({ port: 0, dataDir, reset }, 0, process, async (it) => {
    await look(it);
    throw new StartError('seen enough');
  });
  await expect(started).rejects.toThrow('seen enough');
  await process.closers.close();
}

test('the webhook inbox answers before the platform starts', async () => {
  let answered: number | undefined;
  await openInstallation(false, async ({ ports }) => {
    answered = (await fetch(`http://${HOST}:${ports.inbox}/a-webhook`, { method: 'POST' })).status;
  });
  expect(answered).toBe(204);
});

test('a data directory with a damaged marker is used again after --reset', async () => {
  await writeFile(join(dataDir, 'creditlane.json'), '');
  let usedDir: string | undefined;
  await openInstallation(true, async ({ dir }) => {
    usedDir = dir;
  });
  expect(usedDir).toBe(dataDir);
});
