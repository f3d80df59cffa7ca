import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  ConfigError,
  type Env,
  type EnvReader,
  parseBase64,
  readEnv,
  refuse,
  refusedRenewals,
  renewedFile,
} from './env.ts';

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

test('a renewed value is read like every other one at first', () => {
  const read = (env: Env) => readEnv(env, (it) => it.renewed('KEY', (text) => text, 'none'))();
  expect([read({}), read({ KEY: 'k' }), read({ KEY_FILE: fileWith('f\n') })]).toEqual([
    'none',
    'k',
    'f',
  ]);
  expect(problemsOf({}, (it) => it.renewed('KEY', (text) => text))).toEqual(['KEY: missing']);
});
