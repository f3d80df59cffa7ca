import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ConfigError, type Env, type EnvReader, readEnv } from './env.ts';

function problemsOf(env: Env, build: (read: EnvReader) => unknown): readonly string[] {
  try {
    readEnv(env, build);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const directories: string[] = [];

function fileWith(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'creditlane-env-'));
  directories.push(directory);
  const path = join(directory, 'value');
  writeFileSync(path, text);
  return path;
}

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

/** For values that are taken as they are. */
const asText = (text: string) => text;

test('a missing or empty variable gets its default, and is a problem without one', () => {
  const both = (read: EnvReader) => [
    read.parsed('A', asText, 'other'),
    read.parsed('B', asText, ''),
  ];
  expect(readEnv({ A: '' }, both)).toEqual(['other', '']);
  expect(problemsOf({ A: '' }, (read) => read.parsed('A', asText))).toEqual(['A: missing']);
});

test('no problem quotes what an error quotes', () => {
  const problems = problemsOf({ A: 'canary0secret' }, (read) => read.parsed('A', JSON.parse));
  expect(problems).toEqual(['A: is not valid']);
});

test('NAME_FILE: the value is read from the file', () => {
  const env = { KEY_FILE: fileWith('AAEC\n') };
  expect(readEnv(env, (read) => read.parsed('KEY', asText))).toBe('AAEC');
});

test('a file that cannot be read, and a file beside a value, are problems', () => {
  const env = { A_FILE: '/no/such/file', B: 'x', B_FILE: fileWith('y') };
  const problems = problemsOf(env, (read) => [read.parsed('A', asText), read.parsed('B', asText)]);
  expect(problems).toEqual([
    expect.stringMatching(/^A: ENOENT/),
    'B: set either this or B_FILE, not both',
  ]);
});

test('when build throws because of a placeholder, only the problem is reported', () => {
  expect(problemsOf({}, (read) => read.parsed('NAME', asText).toUpperCase())).toEqual([
    'NAME: missing',
  ]);
});

test('when build throws without a problem, its error is rethrown', () => {
  const build = () => {
    throw new RangeError('not about the environment');
  };
  expect(() => readEnv({}, build)).toThrow(RangeError);
});

test('a renewed value is read like every other one at first', () => {
  const read = (env: Env) => readEnv(env, (it) => it.renewed('KEY', asText, 'none'))();
  expect([read({}), read({ KEY: 'k' }), read({ KEY_FILE: fileWith('f\n') })]).toEqual([
    'none',
    'k',
    'f',
  ]);
  expect(problemsOf({}, (it) => it.renewed('KEY', asText))).toEqual(['KEY: missing']);
});
