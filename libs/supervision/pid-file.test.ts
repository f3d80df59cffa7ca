import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  exitsWithin,
  identifyProcess,
  isRunning,
  killFromPidFile,
  readPidFile,
  writePidFile,
} from './pid-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'creditlane-marks-'));
});
afterAll(() => rm(folder, { recursive: true }));

function startSleeper() {
  const child = spawn('sleep', ['60']);
  return { pid: child.pid as number, ended: once(child, 'exit') };
}

test('a process is running until it has ended', async () => {
  const { pid, ended } = startSleeper();
  const mark = await identifyProcess(pid);
  expect(await isRunning(mark)).toBe(true);
  expect(await exitsWithin(mark, 0)).toBe(false);
  process.kill(pid);
  await ended;
  expect(await exitsWithin(mark, 0)).toBe(true);
});

test('a later process with the same pid is another one', async () => {
  const mark = await identifyProcess(process.pid);
  expect(await isRunning(mark)).toBe(true);
  expect(await isRunning({ ...mark, startTime: `${mark.startTime}0` })).toBe(false);
});

test('a marked process is ended by whoever finds the mark, and the mark goes with it', async () => {
  const file = join(folder, 'mark');
  const { pid, ended } = startSleeper();
  await writePidFile(file, pid);
  await killFromPidFile(file);
  expect((await ended)[1]).toBe('SIGKILL');
  expect(await readPidFile(file)).toBeUndefined();
});

test('a mark that says nothing, or of whom nobody knows, harms nobody', async () => {
  const file = join(folder, 'mark');
  await killFromPidFile(file);
  await writeFile(file, '{"pid":');
  await killFromPidFile(file);
  await writeFile(file, JSON.stringify({ pid: process.pid, startTime: '' }));
  await killFromPidFile(file);
});
