import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lockInstance } from './instance-lock.ts';

/** No process has this id: it is above every system's highest. */
const NO_PROCESS = 2 ** 30;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'creditlane-lock-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('a second process is refused until the lock is released, and no file is left', async () => {
  const release = await lockInstance(dir);
  await expect(lockInstance(dir)).rejects.toThrow(`Another Creditlane (process ${process.pid})`);
  await release();
  expect(await readdir(dir)).toEqual([]);
  await (await lockInstance(dir))();
});

test.each([
  ['that is dead', { pid: NO_PROCESS, startTime: '1' }],
  ['whose id another process has by now', { pid: process.pid, startTime: 'at another time' }],
])('a holder %s is taken over from', async (_, holder) => {
  await writeFile(join(dir, 'instance.lock'), JSON.stringify(holder));
  const release = await lockInstance(dir);
  await release();
  expect(await readdir(dir)).toEqual([]);
});
