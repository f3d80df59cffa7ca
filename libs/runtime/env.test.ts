import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { ConfigError, type Env, type EnvReader, parseBase64, readEnv } from './env.ts';

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

test('each method returns its kind of value', () => {
  const env = {
    NAME: 'north',
    PORT: '8080',
    WAIT: '5s',
    ENABLED: 'true',
    DATABASE_URL: 'postgres://db.internal/applications',
    BROKERS: 'one:9092, two:9092,',
    KEY: 'AAEC',
    MODE: 'fast',
  };
  const config = readEnv(env, (read) => ({
    name: read.string('NAME'),
    port: read.integer('PORT', { min: 1, max: 65_535 }),
    waitMs: read.durationMs('WAIT'),
    enabled: read.boolean('ENABLED'),
    databaseUrl: read.url('DATABASE_URL'),
    brokers: read.list('BROKERS'),
    key: read.parsed('KEY', parseBase64),
    mode: read.oneOf('MODE', ['fast', 'slow']),
  }));
  expect(config).toEqual({
    name: 'north',
    port: 8080,
    waitMs: 5_000,
    enabled: true,
    databaseUrl: 'postgres://db.internal/applications',
    brokers: ['one:9092', 'two:9092'],
    key: Buffer.from([0, 1, 2]),
    mode: 'fast',
  });
});

test('a missing or empty variable gets its default', () => {
  const config = readEnv({ NAME: '' }, (read) => ({
    name: read.string('NAME', ''),
    port: read.integer('PORT', { default: 0 }),
    enabled: read.boolean('ENABLED', false),
    brokers: read.list('BROKERS', []),
    mode: read.oneOf('MODE', ['fast', 'slow'], 'slow'),
  }));
  expect(config).toEqual({ name: '', port: 0, enabled: false, brokers: [], mode: 'slow' });
});

test('all problems are reported at once, one per line', () => {
  const env = { PORT: '70000', WAIT: '5', ENABLED: 'yes', URL: 'db', KEY: '!', MODE: 'medium' };
  const read = () =>
    readEnv(env, (read) => ({
      databaseUrl: read.string('DATABASE_URL'),
      port: read.integer('PORT', { min: 1, max: 65_535 }),
      waitMs: read.durationMs('WAIT', { min: 1_000 }),
      enabled: read.boolean('ENABLED'),
      url: read.url('URL'),
      key: read.parsed('KEY', parseBase64),
      mode: read.oneOf('MODE', ['fast', 'slow']),
    }));
  expect(read).toThrow(
    [
      'DATABASE_URL: missing',
      'PORT: must be a whole number of at least 1 and of at most 65535',
      'WAIT: must be a time span such as 250ms, 5s or 24h of at least 1000 ms',
      'ENABLED: must be one of true, false',
      'URL: must be an absolute URL',
      'KEY: must be base64',
      'MODE: must be one of fast, slow',
    ].join('\n'),
  );
});

test('no problem quotes a value', () => {
  const SECRET = 'canary0secret';
  const env = { A: SECRET, B: SECRET, C: SECRET, D: SECRET, E: SECRET, F: SECRET };
  const problems = problemsOf(env, (read) => [
    read.integer('A'),
    read.durationMs('B'),
    read.boolean('C'),
    read.url('D'),
    read.parsed('E', parseBase64),
    read.parsed('F', JSON.parse),
  ]);
  expect(problems).toHaveLength(6);
  expect(problems.join()).not.toContain(SECRET);
});

test('NAME_FILE: the value is read from the file', () => {
  const env = { KEY_FILE: fileWith('AAEC\n') };
  expect(readEnv(env, (read) => read.parsed('KEY', parseBase64))).toEqual(Buffer.from([0, 1, 2]));
});

test('a file that cannot be read, and a file beside a value, are problems', () => {
  const env = { A_FILE: '/no/such/file', B: 'x', B_FILE: fileWith('y') };
  const problems = problemsOf(env, (read) => [read.string('A'), read.string('B')]);
  expect(problems).toEqual([
    expect.stringMatching(/^A: ENOENT/),
    'B: set either this or B_FILE, not both',
  ]);
});

test('when build throws because of a placeholder, only the problem is reported', () => {
  expect(problemsOf({}, (read) => read.string('NAME').toUpperCase())).toEqual(['NAME: missing']);
});

test('when build throws without a problem, its error is rethrown', () => {
  const build = () => {
    throw new RangeError('not about the environment');
  };
  expect(() => readEnv({}, build)).toThrow(RangeError);
});

test('only whole numbers are read as integers', () => {
  fc.assert(
    fc.property(fc.integer(), (number) => {
      expect(readEnv({ N: String(number) }, (read) => read.integer('N'))).toBe(number);
    }),
  );
  for (const text of ['1.5', '1e3', '0x10', ' 1', '1_000', '--1', 'NaN', '9'.repeat(16)]) {
    expect(problemsOf({ N: text }, (read) => read.integer('N'))).toHaveLength(1);
  }
});

test('a renewed value is read like every other one at first', () => {
  const read = (env: Env) => readEnv(env, (it) => it.renewed('KEY', (text) => text, 'none'))();
  expect([read({}), read({ KEY: 'k' }), read({ KEY_FILE: fileWith('f\n') })]).toEqual([
    'none',
    'k',
    'f',
  ]);
  expect(problemsOf({}, (it) => it.renewed('KEY', (text) => text))).toEqual(['KEY: missing']);
});
