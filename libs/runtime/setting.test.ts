import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConfigError, type Env } from './env.ts';
import { readSettings, type Settings, setting } from './setting.ts';

const about = 'For the test.';

function problemsOf(env: Env, settings: Settings): readonly string[] {
  try {
    readSettings(env, settings);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('each kind of setting returns its kind of value', () => {
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
  const { keys, ...values } = readSettings(env, {
    name: setting.string('NAME', { about }),
    port: setting.integer('PORT', { min: 1, max: 65_535, about }),
    waitMs: setting.durationMs('WAIT', { about }),
    enabled: setting.boolean('ENABLED', { about }),
    databaseUrl: setting.url('DATABASE_URL', { about }),
    brokers: setting.list('BROKERS', { about }),
    keys: setting.keys('KEY', { about }),
    mode: setting.oneOf('MODE', ['fast', 'slow'], { about }),
  });
  expect(values).toEqual({
    name: 'north',
    port: 8080,
    waitMs: 5_000,
    enabled: true,
    databaseUrl: 'postgres://db.internal/applications',
    brokers: ['one:9092', 'two:9092'],
    mode: 'fast',
  });
  expect(keys()[0].equals(Buffer.from([0, 1, 2]))).toBe(true);
});

test('a missing or empty variable gets the default of its setting', () => {
  const values = readSettings(
    { NAME: '' },
    {
      name: setting.string('NAME', { default: '', about }),
      port: setting.port('PORT', { default: 0, about }),
      waitMs: setting.durationMs('WAIT', { default: '2s', about }),
      enabled: setting.boolean('ENABLED', { default: false, about }),
      url: setting.url('URL', { default: '', about }),
      mode: setting.oneOf('MODE', ['fast', 'slow'], { default: 'slow', about }),
    },
  );
  const expected = { name: '', port: 0, waitMs: 2_000, enabled: false, url: '', mode: 'slow' };
  expect(values).toEqual(expected);
});

test('all problems are reported at once, one per line', () => {
  const env = { PORT: '70000', WAIT: '5', ENABLED: 'yes', URL: 'db', KEY: '!', MODE: 'medium' };
  const read = () =>
    readSettings(env, {
      databaseUrl: setting.string('DATABASE_URL', { about }),
      port: setting.integer('PORT', { min: 1, max: 65_535, about }),
      waitMs: setting.durationMs('WAIT', { min: '1s', about }),
      enabled: setting.boolean('ENABLED', { about }),
      url: setting.url('URL', { about }),
      keys: setting.keys('KEY', { about }),
      mode: setting.oneOf('MODE', ['fast', 'slow'], { about }),
    });
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
  const env = { A: SECRET, B: SECRET, C: SECRET, D: SECRET, E: SECRET };
  const problems = problemsOf(env, {
    a: setting.integer('A', { about }),
    b: setting.durationMs('B', { about }),
    c: setting.boolean('C', { about }),
    d: setting.url('D', { about }),
    e: setting.keys('E', { about }),
  });
  expect(problems).toHaveLength(5);
  expect(problems.join()).not.toContain(SECRET);
});

test('only whole numbers are read as integers', () => {
  const number = setting.integer('N', { about });
  fc.assert(
    fc.property(fc.integer(), (n) => {
      expect(readSettings({ N: String(n) }, { number })).toEqual({ number: n });
    }),
  );
  for (const text of ['1.5', '1e3', '0x10', ' 1', '1_000', '--1', 'NaN', '9'.repeat(16)]) {
    expect(problemsOf({ N: text }, { number })).toHaveLength(1);
  }
});
