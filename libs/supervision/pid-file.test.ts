import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  exitsWithin,
  identifyProcess,
  isRunning,
  killFromPidFile,
  killFromPidFiles,
  readPidFile,
  writePidFile,
} from './pid-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'creditlane-pid-files-'));
});
afterAll(() => rm(folder, { recursive: true }));

function startSleeper() {
  const child = spawn('sleep', ['60']);
  return { pid: child.pid as number, ended: once(child, 'exit') };
}

test('a process is running until it has ended', async () => {
  const { pid, ended } = startSleeper();
  const identity = await identifyProcess(pid);
  expect(await isRunning(identity)).toBe(true);
  expect(await exitsWithin(identity, 0)).toBe(false);
  process.kill(pid);
  await ended;
  expect(await exitsWithin(identity, 0)).toBe(true);
});

/** Ends its first thread, whose state is then that of the process, and goes on in another one. */
const OUTLIVES_ITS_FIRST_THREAD = `
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
ctypes.CDLL(None).pthread_exit(None)
`;
const canTestThreads =
  process.platform === 'linux' && spawnSync('python3', ['--version']).status === 0;

test.runIf(canTestThreads)(
  'a process whose first thread has ended is running until its other threads have ended',
  async () => {
    const child = spawn('python3', ['-c', OUTLIVES_ITS_FIRST_THREAD]);
    onTestFinished(() => void child.kill('SIGKILL'));
    const pid = child.pid as number;
    const identity = await identifyProcess(pid);
    await expect.poll(() => readFile(`/proc/${pid}/stat`, 'utf8')).toContain(') Z ');
    expect(await isRunning(identity)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isRunning(identity)).toBe(false);
  },
);

test('a later process with the same pid is a different process', async () => {
  const identity = await identifyProcess(process.pid);
  expect(await isRunning(identity)).toBe(true);
  expect(await isRunning({ ...identity, startTime: `${identity.startTime}0` })).toBe(false);
});

test('a process named by a pid file is killed from it, and the file is deleted', async () => {
  const file = join(folder, 'process');
  const { pid, ended } = startSleeper();
  await writePidFile(file, pid);
  await killFromPidFile(file);
  expect((await ended)[1]).toBe('SIGKILL');
  expect(await readPidFile(file)).toBeUndefined();
});

test('a process that ends just before the signal is sent counts as ended, and its file is deleted', async () => {
  const file = join(folder, 'process');
  const { pid, ended } = startSleeper();
  await writePidFile(file, pid);
  const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
    throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
  });
  expect(await killFromPidFile(file)).toBe(false);
  kill.mockRestore();
  expect(await readPidFile(file)).toBeUndefined();
  process.kill(pid);
  await ended;
});

test('a pid file of an earlier version names its process', async () => {
  const file = join(folder, 'earlier');
  const { pid, startTime } = await identifyProcess(process.pid);
  await writeFile(file, JSON.stringify({ pid, born: startTime }));
  expect(await readPidFile(file)).toEqual({ pid, startTime });
});

test('a pid file that is missing, incomplete or without a start time kills no process', async () => {
  const file = join(folder, 'process');
  await killFromPidFile(file);
  await writeFile(file, '{"pid":');
  await killFromPidFile(file);
  await writeFile(file, JSON.stringify({ pid: process.pid, startTime: '' }));
  await killFromPidFile(file);
});

test('of a folder only the files that name a process are deleted', async () => {
  const mixed = join(folder, 'mixed');
  await mkdir(mixed);
  const others = {
    'list.json': '[]',
    'notes.ts': '// mine',
    'null.json': 'null',
    'pkg.json': '{}',
  };
  for (const [name, text] of Object.entries(others)) await writeFile(join(mixed, name), text);
  const { pid, ended } = startSleeper();
  await writePidFile(join(mixed, 'process'), pid);
  await killFromPidFiles(mixed);
  expect((await ended)[1]).toBe('SIGKILL');
  expect((await readdir(mixed)).toSorted()).toEqual(Object.keys(others));
});
