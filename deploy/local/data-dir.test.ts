import {
  chmod,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { emptyDataDir, markDataDir, openDataDir } from './data-dir.ts';

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'creditlane-data-dir-'));
});
afterEach(() => rm(parent, { recursive: true }));

test('a new data directory is created with its parents and can be opened again', async () => {
  const dir = join(parent, 'a', 'b');
  expect(await openDataDir(dir)).toBe(dir);
  await markDataDir(dir);
  await writeFile(join(dir, 'secrets.json'), '{}');
  expect(await openDataDir(dir)).toBe(dir);
});

test('a data directory is closed to other users, also one that was open to them', async () => {
  const dir = join(parent, 'new');
  for (const before of [undefined, 0o755]) {
    if (before !== undefined) await chmod(dir, before);
    await openDataDir(dir);
    // Where root starts PostgreSQL, the group of PostgreSQL's user may enter.
    const expected = process.getuid?.() === 0 ? 0o710 : 0o700;
    expect((await stat(dir)).mode & 0o777).toBe(expected);
  }
});

test('a directory with nothing but the lock of an earlier start is accepted without a marker', async () => {
  await writeFile(join(parent, 'instance.lock'), '{}');
  expect(await openDataDir(parent)).toBe(parent);
});

test('a directory with other files is refused, and the files stay', async () => {
  await mkdir(join(parent, 'postgres'));
  await writeFile(join(parent, 'postgres', 'thesis.txt'), 'mine');
  await expect(openDataDir(parent)).rejects.toThrow(/holds other files \(postgres\)/);
  expect(await readFile(join(parent, 'postgres', 'thesis.txt'), 'utf8')).toBe('mine');
});

test.runIf(process.platform === 'linux')(
  'a path where no directory can be created is refused',
  async () => {
    await expect(openDataDir('/proc/creditlane')).rejects.toThrow(/cannot be written \(ENOENT\)/);
  },
);

test('a directory with a damaged marker is refused, unless it is to be reset', async () => {
  await writeFile(join(parent, 'creditlane.json'), 'layout one');
  await expect(openDataDir(parent)).rejects.toThrow(/creditlane.json is damaged/);
  expect(await openDataDir(parent, { reset: true })).toBe(parent);
});

test('a directory of a newer version is refused, also when it is to be reset', async () => {
  await writeFile(join(parent, 'creditlane.json'), '{"layoutVersion":1000}');
  await expect(openDataDir(parent, { reset: true })).rejects.toThrow(/newer version/);
});

test('a marker is replaced as a whole, and a draft of it does not keep a start from the directory', async () => {
  await writeFile(join(parent, 'creditlane.json.new'), '');
  expect(await openDataDir(parent)).toBe(parent);
  await writeFile(join(parent, 'creditlane.json'), '{"layoutVersion":0}');
  const earlier = await open(join(parent, 'creditlane.json'));
  await markDataDir(parent);
  expect(await earlier.readFile('utf8')).toBe('{"layoutVersion":0}');
  await earlier.close();
  expect(await openDataDir(parent)).toBe(parent);
});

test('emptying a data directory deletes the files of Creditlane and no others', async () => {
  await markDataDir(parent);
  for (const name of ['secrets.json', 'demo.json', 'inbox.jsonl', 'notes.txt']) {
    await writeFile(join(parent, name), '');
  }
  await emptyDataDir(parent);
  expect(await readdir(parent)).toEqual(['notes.txt']);
});
