import { type FileHandle, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { draftOf, writePrivateFile } from './private-file.ts';

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'private-file-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

test('a file is on the disk before it replaces the earlier one, and then its name is', async () => {
  const directory = await newDirectory();
  const path = join(directory, 'secrets.json');
  await writeFile(path, 'earlier');
  const handle = await open(path);
  await handle.close();
  const synced: { isFile: boolean; text: string }[] = [];
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
  onTestFinished(() => sync.mockRestore());
  sync.mockImplementation(async function (this: FileHandle) {
    synced.push({ isFile: (await this.stat()).isFile(), text: await readFile(path, 'utf8') });
  });
  await writePrivateFile(path, 'new');
  expect(synced).toEqual([
    { isFile: true, text: 'earlier' },
    { isFile: false, text: 'new' },
  ]);
});

test('a file whose draft others could read is readable by its owner only', async () => {
  const path = join(await newDirectory(), 'secrets.json');
  await writeFile(draftOf(path), 'interrupted', { mode: 0o644 });
  await writePrivateFile(path, 'new');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe('new');
});
