import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { writePidFile } from '@creditlane/supervision/pid-file';
import { findConsecutivePorts } from '@creditlane/supervision/test-consecutive-ports';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { HOST } from './host.ts';
import { type Installation, runInstallation, stopLeftoverProcesses } from './installation.ts';
import { lockInstance } from './instance-lock.ts';
import { StartError } from './start-error.ts';

const run = promisify(execFile);

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'creditlane-installation-'));
});

const write = (file: string, value: unknown) =>
  writeFile(join(dataDir, file), JSON.stringify(value));

/** Runs an installation until its platform is about to start, and looks at it then. */
async function openInstallation(
  reset: boolean,
  look: (it: Installation) => Promise<void>,
  port = 0,
) {
  const process = createTestProcess('installation');
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const started = runInstallation({ port, dataDir, reset }, 0, process, async (it) => {
    await look(it);
    throw new StartError('seen enough');
  });
  await expect(started).rejects.toThrow('seen enough');
  await process.closers.close();
}

/** Runs an installation that is refused before its platform starts. */
const refused = (reset = false) =>
  runInstallation({ port: 0, dataDir, reset }, 0, createTestProcess('installation'), () =>
    Promise.reject(new Error('the platform must not start')),
  );

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

test('the processes of a data directory in use are not stopped as if they were left over', async () => {
  const child = spawn('sleep', ['60']);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(dataDir, { recursive: true });
  });
  await write('creditlane.json', { layoutVersion: 1 });
  await mkdir(join(dataDir, 'processes'));
  await writePidFile(join(dataDir, 'processes', 'decisions'), child.pid ?? 0);
  const release = await lockInstance(dataDir);
  await expect(stopLeftoverProcesses(dataDir)).rejects.toThrow(/^Another Creditlane /);
  expect(child.signalCode).toBeNull();
  await release();
  expect(await stopLeftoverProcesses(dataDir)).toEqual(['decisions']);
});

test('a start on the ports of a process that a killed launcher left running kills that process and uses them', async () => {
  const port = await findConsecutivePorts(4);
  const script = `require('net').createServer().listen(${port}, '${HOST}', () => process.stdout.write('listens'))`;
  const left = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void left.kill('SIGKILL'));
  await once(left.stdout, 'data');
  await write('creditlane.json', { layoutVersion: 1 });
  await mkdir(join(dataDir, 'processes'));
  await writePidFile(join(dataDir, 'processes', 'gateway'), left.pid ?? 0);
  let usedPort: number | undefined;
  await openInstallation(
    false,
    async ({ ports }) => {
      usedPort = ports.api;
    },
    port,
  );
  expect(usedPort).toBe(port);
});

const mountDisk = (dir: string) => run('mount', ['-t', 'tmpfs', '-o', 'size=310m', 'tmpfs', dir]);

/** Only root on Linux can, and not in every container. */
async function canMountDisk(): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'creditlane-mount-'));
  const canMount = await mountDisk(dir).then(
    () => true,
    () => false,
  );
  if (canMount) await run('umount', [dir]);
  await rmdir(dir);
  return canMount;
}

describe.runIf(await canMountDisk())('on a disk with too little space', () => {
  beforeEach(async () => {
    await mountDisk(dataDir);
    await write('creditlane.json', { layoutVersion: 1 });
  });
  afterEach(async () => {
    await run('umount', [dataDir]);
    await rm(dataDir, { recursive: true });
  });
  const fill = async (name: string) => {
    await mkdir(join(dataDir, name));
    await run('fallocate', ['--length', '20MiB', join(dataDir, name, 'data')]);
  };

  test('a data directory that fills the disk is refused, and is used again after --reset', async () => {
    await fill('postgres');
    await expect(refused()).rejects.toThrow(/has 28\d MiB free; Creditlane needs 300 MiB/);
    let usedDir: string | undefined;
    await openInstallation(true, async ({ dir }) => {
      usedDir = dir;
    });
    expect(usedDir).toBe(dataDir);
  });

  test('a data directory beside other files that fill the disk is refused, also with --reset, which deletes nothing then', async () => {
    await fill('notes');
    await write('secrets.json', {});
    const before = await readdir(dataDir);
    await expect(refused(true)).rejects.toThrow(/has 2[89]\d MiB free, with what --reset deletes;/);
    expect(await readdir(dataDir)).toEqual(before);
  });

  test('a disk with no byte free: a start with --reset says what to delete, leaves nothing, and succeeds afterwards', async () => {
    await write('inbox.jsonl', {});
    await mkdir(join(dataDir, 'postgres'));
    const { bavail, bsize } = await statfs(dataDir);
    const rest = String(bavail * bsize);
    await run('fallocate', ['--length', rest, join(dataDir, 'postgres', 'data')]);
    const before = await readdir(dataDir);
    await expect(refused(true)).rejects.toThrow(
      'The disk is full. Delete something on it, such as inbox.jsonl in the data directory (the webhooks received so far), and try again.',
    );
    expect(await readdir(dataDir)).toEqual(before);
    await rm(join(dataDir, 'inbox.jsonl'));
    await openInstallation(true, async () => {});
  });
});

describe.each(['secrets.json', 'demo-records.json'])('the file %s', (name) => {
  beforeEach(async () => {
    await write('creditlane.json', { layoutVersion: 1 });
    onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  });

  test('that is damaged: the error advises --reset, and says that it deletes all data', async () => {
    await writeFile(join(dataDir, name), '{');
    await expect(refused()).rejects.toThrow(
      `${name} is damaged. Start with --reset, which deletes all data`,
    );
  });

  test('that cannot be read: the error has the reason, and does not advise --reset', async () => {
    await mkdir(join(dataDir, name));
    await expect(refused()).rejects.toThrow(`${name} cannot be read (EISDIR).`);
  });
});
