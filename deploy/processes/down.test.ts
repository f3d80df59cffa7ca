import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writePidFile } from '@creditlane/supervision/pid-file';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const DOWN = join(import.meta.dirname, 'down.ts');

/** A directory with the pid file of a process, as a killed launcher leaves it. */
async function leaveProcess(name: string) {
  const dir = await mkdtemp(join(tmpdir(), 'creditlane-down-'));
  const child = spawn('sleep', ['60']);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(dir, { recursive: true });
  });
  await mkdir(join(dir, 'processes'));
  const pidFile = join(dir, 'processes', name);
  await writePidFile(pidFile, child.pid ?? 0);
  return { dir, child, pidFile };
}

test('in a directory that is no data directory no process is killed, and no file is made or deleted', async () => {
  const { dir, child, pidFile } = await leaveProcess('another-program');
  const before = await readFile(pidFile, 'utf8');
  const { stdout } = await run(process.execPath, [DOWN, '--data-dir', dir]);
  expect(stdout).toBe(`Nothing runs on ${dir}. Name another data directory with --data-dir.\n`);
  expect(await readFile(pidFile, 'utf8')).toBe(before);
  expect(await readdir(dir)).toEqual(['processes']);
  expect(child.signalCode).toBeNull();
});

test('processes that a killed launcher left on a data directory are killed, and named', async () => {
  const { dir, child } = await leaveProcess('decisions');
  await writeFile(join(dir, 'creditlane.json'), '{"layoutVersion":1}');
  const { stdout } = await run(process.execPath, [DOWN, '--data-dir', dir]);
  expect(stdout).toBe('Stopped what a killed launcher had left running: decisions.\n');
  await expect.poll(() => child.signalCode).toBe('SIGKILL');
  expect((await readdir(dir)).toSorted()).toEqual(['creditlane.json', 'processes']);
});

test('on a data directory that another process is about to use, down says so and kills nothing', async () => {
  const { dir, child } = await leaveProcess('decisions');
  await writeFile(join(dir, 'creditlane.json'), '{"layoutVersion":1}');
  // The lock of a process that ended, which another process is replacing.
  await writeFile(join(dir, 'instance.lock'), JSON.stringify({ pid: 2 ** 30, startTime: '1' }));
  const guard = join(dir, 'instance.lock.evicting');
  await mkdir(guard);
  await writePidFile(join(guard, 'of-the-other-process'), process.pid);
  const down = run(process.execPath, [DOWN, '--data-dir', dir]);
  await expect(down).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: `Another Creditlane (process ${process.pid}) is starting. Try again.\n`,
  });
  expect(child.signalCode).toBeNull();
});

test('an empty path, as an unset variable gives it, is refused', async () => {
  const refused = run(process.execPath, [DOWN, '--data-dir', '']);
  await expect(refused).rejects.toMatchObject({ stderr: '--data-dir: no path is given.\n' });
});
