import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writePidFile } from '@creditlane/supervision/pid-file';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const DOWN = join(import.meta.dirname, 'down.ts');

test('in a directory that is no data directory no process is killed, and no file is deleted', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'creditlane-down-'));
  const child = spawn('sleep', ['60']);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true });
  });
  await mkdir(join(dir, 'processes'));
  const file = join(dir, 'processes', 'another-program');
  await writePidFile(file, child.pid ?? 0);
  const before = await readFile(file, 'utf8');
  const { stdout } = await run(process.execPath, [DOWN, '--data-dir', dir]);
  expect(stdout).toBe(`Nothing runs on ${dir}. Name another data directory with --data-dir.\n`);
  expect(await readFile(file, 'utf8')).toBe(before);
  expect(child.signalCode).toBeNull();
});

test('an empty path, as an unset variable gives it, is refused', async () => {
  const refused = run(process.execPath, [DOWN, '--data-dir', '']);
  await expect(refused).rejects.toMatchObject({ stderr: '--data-dir: no path is given.\n' });
});
