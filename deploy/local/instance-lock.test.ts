import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identifyProcess, isRunning } from '@creditlane/supervision/pid-file';
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

test('a lock that another process takes while this one finds the holder dead stays where it is', async () => {
  const lock = join(dir, 'instance.lock');
  const other = JSON.stringify(await identifyProcess(process.ppid));
  await writeFile(lock, JSON.stringify({ pid: NO_PROCESS, startTime: '1' }));
  const seen: string[] = [];
  const refused = lockInstance(dir, async (identity) => {
    seen.push(await readFile(lock, 'utf8'));
    const runs = await isRunning(identity);
    // The other process has replaced the lock of the dead one before this one learns that it is dead.
    if (seen.length === 1) await writeFile(lock, other);
    return runs;
  });
  await expect(refused).rejects.toThrow(`Another Creditlane (process ${process.ppid})`);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.slice(1)).toEqual(seen.slice(1).map(() => other));
  expect(await readFile(lock, 'utf8')).toBe(other);
  expect(await readdir(dir)).toEqual(['instance.lock']);
});

test('while a process replaces the lock of a dead one, another start is refused', async () => {
  const lock = join(dir, 'instance.lock');
  await writeFile(lock, JSON.stringify({ pid: NO_PROCESS, startTime: '1' }));
  let looks = 0;
  const refusals: unknown[] = [];
  const release = await lockInstance(dir, async (identity) => {
    looks += 1;
    // The first look is before this process is the only one that may replace the lock.
    if (looks > 1) refusals.push(await lockInstance(dir).catch((error: Error) => error.message));
    return isRunning(identity);
  });
  expect(refusals).toEqual([`Another Creditlane (process ${process.pid}) is starting. Try again.`]);
  await release();
  expect(await readdir(dir)).toEqual([]);
});

test('a process that was killed while it replaced a lock keeps nobody from doing so', async () => {
  const dead = JSON.stringify({ pid: NO_PROCESS, startTime: '1' });
  await writeFile(join(dir, 'instance.lock'), dead);
  await mkdir(join(dir, 'instance.lock.evicting'));
  await writeFile(join(dir, 'instance.lock.evicting', 'of-the-dead-process'), dead);
  const release = await lockInstance(dir);
  await release();
  expect(await readdir(dir)).toEqual([]);
});

test('drafts of processes that were killed before they had the lock are deleted, and no others', async () => {
  const dead = JSON.stringify({ pid: NO_PROCESS, startTime: '1' });
  const alive = JSON.stringify(await identifyProcess(process.ppid));
  for (const [end, text] of [
    ['dead', dead],
    ['alive', alive],
    // A process that has not yet written its name.
    ['empty', ''],
  ] as const) {
    await writeFile(join(dir, `instance.lock.${end}`), text);
    const guard = `instance.lock.evicting.${end}`;
    await mkdir(join(dir, guard));
    await writeFile(join(dir, guard, guard), text);
  }
  const release = await lockInstance(dir);
  await release();
  expect((await readdir(dir)).toSorted()).toEqual([
    'instance.lock.alive',
    'instance.lock.empty',
    'instance.lock.evicting.alive',
    'instance.lock.evicting.empty',
  ]);
});
