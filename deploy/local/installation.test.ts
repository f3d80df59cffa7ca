import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { HOST } from './host.ts';
import { type Installation, runInstallation } from './installation.ts';
import { StartError } from './start-error.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'creditlane-installation-'));
});

const write = (file: string, value: unknown) =>
  writeFile(join(dataDir, file), JSON.stringify(value));

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

test('secrets that are set at once are all kept', async () => {
  await write('creditlane.json', { layoutVersion: 1 });
  const inboxUrl = `http://${HOST}:47113`;
  await write('demo-records.json', { webhookSecret: 'whsec_first', inboxUrl });
  const secrets = Array.from({ length: 5 }, () => `whsec_${randomBytes(32).toString('base64')}`);
  await openInstallation(false, async ({ ports }) => {
    const set = (secret: string) =>
      fetch(`http://${HOST}:${ports.inbox}/secret`, {
        method: 'PUT',
        body: JSON.stringify({ secret }),
      });
    const answers = await Promise.all(secrets.map(set));
    expect(answers.map(({ status }) => status)).toEqual(secrets.map(() => 204));
  });
  const kept = JSON.parse(await readFile(join(dataDir, 'demo-records.json'), 'utf8'));
  const all = [kept.webhookSecret, ...kept.earlierWebhookSecrets];
  expect(new Set(all)).toEqual(new Set([...secrets, 'whsec_first']));
});

describe('a file of secrets', () => {
  const refused = () =>
    runInstallation({ port: 0, dataDir, reset: false }, 0, createTestProcess('installation'), () =>
      Promise.reject(new Error('the platform must not start')),
    );
  beforeEach(async () => {
    await write('creditlane.json', { layoutVersion: 1 });
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  });

  test('that is damaged: the error advises --reset, and says that it deletes all data', async () => {
    await writeFile(join(dataDir, 'secrets.json'), '{');
    await expect(refused()).rejects.toThrow(
      'secrets.json is damaged. Start with --reset, which deletes all data',
    );
  });

  test('that cannot be read: the error has the reason, and does not advise --reset', async () => {
    await mkdir(join(dataDir, 'secrets.json'));
    await expect(refused()).rejects.toThrow(/secrets\.json cannot be read \(EISDIR\)\.$/);
  });
});
