import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readEnv, refuse } from './env.ts';
import { refusedRenewals, renewedFile } from './renewed-file.ts';

function fileWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'renewed-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'value');
  writeFileSync(path, text);
  return path;
}

test('a renewed value follows its file, and stays while the file holds nothing of its kind', () => {
  const path = fileWith('one');
  const parse = (text: string) => (text === 'wrong' ? refuse('right') : text.toUpperCase());
  const value = renewedFile(path, parse, { text: 'one', value: 'ONE' }, 0);
  expect(value()).toBe('ONE');
  for (const [text, expected] of [
    ['two\n', 'TWO'],
    ['wrong', 'TWO'],
    ['', 'TWO'],
    ['three', 'THREE'],
  ] as const) {
    writeFileSync(path, text);
    expect(value()).toBe(expected);
  }
  rmSync(path);
  expect(value()).toBe('THREE');
});

test('a renewed value that its caller knows to be outdated is read at once', () => {
  const path = fileWith('1');
  const value = readEnv({ N_FILE: path }, (it) => it.renewed('N', Number));
  writeFileSync(path, '2');
  expect([value(), value((known) => known < 1), value((known) => known < 2), value()]).toEqual([
    1, 1, 2, 2,
  ]);
});

test('a value that is always called outdated is read ten times at once, and then every 100 ms', () => {
  const path = fileWith('0');
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const value = readEnv({ N_FILE: path }, (it) => it.renewed('N', Number));
  const readEarly = (text: string) => {
    writeFileSync(path, text);
    return value(() => true);
  };
  const texts = Array.from({ length: 12 }, (_, n) => `${n + 1}`);
  expect(texts.map(readEarly)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]);
  vi.advanceTimersByTime(100);
  expect(['13', '14'].map(readEarly)).toEqual([13, 13]);
  vi.advanceTimersByTime(1_000);
  expect(texts.map(readEarly)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10]);
});

test('each new text that is refused, and a file that is gone, are published once', () => {
  const path = fileWith('one');
  const parse = (text: string) => (text.startsWith('wrong') ? refuse('right') : text);
  const value = renewedFile(path, parse, { text: 'one', value: 'one' }, 0);
  const published: unknown[] = [];
  const onRefused = (refused: unknown) => void published.push(refused);
  refusedRenewals.subscribe(onRefused);
  onTestFinished(() => void refusedRenewals.unsubscribe(onRefused));
  for (const text of ['wrong', 'wrong', 'wrong, too', '', 'two', 'wrong']) {
    writeFileSync(path, text);
    value();
  }
  rmSync(path);
  expect([value(), value()]).toEqual(['two', 'two']);
  const messages = ['must be right', 'must be right', /empty/, 'must be right', /ENOENT/];
  expect(published).toMatchObject(
    messages.map((it) => ({ path, err: { message: expect.stringMatching(it) } })),
  );
});

test('a file that is replaced between its first reading and the next one gives the new value', () => {
  const path = fileWith('one');
  const parse = (text: string) => {
    if (text === 'one') writeFileSync(path, 'two');
    return text;
  };
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const value = readEnv({ KEY_FILE: path }, (it) => it.renewed('KEY', parse));
  expect(value()).toBe('one');
  vi.advanceTimersByTime(5_000);
  expect(value()).toBe('two');
});
