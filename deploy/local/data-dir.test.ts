import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyDataDir, markDataDir, openDataDir } from './data-dir.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'creditlane-data-dir-'));
});
afterEach(() => rm(parent, { recursive: true }));

test('is made with its parents, and opened again once it is marked', async () => {
  const dir = join(parent, 'a', 'b');
  expect(await openDataDir(dir)).toBe(dir);
  await markDataDir(dir);
  await writeFile(join(dir, 'secrets.json'), '{}');
  expect(await openDataDir(dir)).toBe(dir);
});

test('is taken without a mark where an earlier start did not come further than its lock', async () => {
  await writeFile(join(parent, 'instance.lock'), '{}');
  expect(await openDataDir(parent)).toBe(parent);
});

test('is refused where it holds somebody else’s files, which stay', async () => {
  await mkdir(join(parent, 'postgres'));
  await writeFile(join(parent, 'postgres', 'thesis.txt'), 'mine');
  await expect(openDataDir(parent)).rejects.toThrow(/holds other files \(postgres\)/);
  expect(await readFile(join(parent, 'postgres', 'thesis.txt'), 'utf8')).toBe('mine');
});

test.runIf(process.platform === 'linux')('is refused where no directory can be made', async () => {
  await expect(openDataDir('/proc/creditlane')).rejects.toThrow(/cannot be written \(ENOENT\)/);
});

test('is refused with a damaged mark', async () => {
  await writeFile(join(parent, 'creditlane.json'), 'layout one');
  await expect(openDataDir(parent)).rejects.toThrow(/creditlane.json is damaged/);
});

test('loses all that Creditlane keeps, and nothing else, when it is emptied', async () => {
  await markDataDir(parent);
  for (const name of ['secrets.json', 'demo.json', 'inbox.jsonl', 'notes.txt']) {
    await writeFile(join(parent, name), '');
  }
  await emptyDataDir(parent);
  expect(await readdir(parent)).toEqual(['notes.txt']);
});
