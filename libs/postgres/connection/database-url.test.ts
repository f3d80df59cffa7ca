import { readSettings } from '@creditlane/runtime/setting';
import { describe, expect, test } from 'vitest';
import { databaseUrl } from './database-url.ts';

const settings = { url: databaseUrl('DATABASE_URL', 'The database.') };

function read(url: string, allowPlaintext?: string): string {
  const env = { DATABASE_URL: url, ...(allowPlaintext && { ALLOW_PLAINTEXT: allowPlaintext }) };
  return readSettings(env, settings).url();
}

const VERIFIED = 'postgres://a:b@db:5432/a?sslmode=verify-full';

describe('a connection to another machine', () => {
  test.each([
    '',
    '?sslmode=disable',
    '?sslmode=verify-full&sslmode=disable',
    '?sslmode=disable&uselibpqcompat=true',
    '?host=db',
    '?sslmode=',
  ])('is refused without TLS: %s', (query) => {
    const message =
      'DATABASE_URL: must be a URL with ?sslmode=verify-full, unless ALLOW_PLAINTEXT is true';
    expect(() => read(`postgres://a:b@db/a${query}`)).toThrow(message);
    expect(() => read(`postgres://a:b@db/a${query}`, 'false')).toThrow(message);
    const permitted = `postgres://a:b@db/a${query}`;
    expect(read(permitted, 'true')).toBe(permitted);
  });

  test.each(['verify-full', 'verify-ca', 'require', 'prefer'])(
    'checks the certificate and its name with the mode %s',
    (mode) => {
      expect(read(`postgres://a:b@db:5432/a?sslmode=${mode}`)).toBe(VERIFIED);
    },
  );

  test('keeps what libpq understands by a mode, where the URL asks for it', () => {
    const url = 'postgres://a:b@db/a?sslmode=require&uselibpqcompat=true';
    expect(read(url)).toBe(url);
  });

  test('is one also where a parameter names the host', () => {
    expect(() => read('postgres://a:b@localhost/a?host=db')).toThrow('must be a URL with');
  });
});

test.each([
  'postgres://a@localhost/a',
  'postgres://a@127.0.0.1:5432/a',
  'postgres://a@127.1.2.3/a',
  'postgres://a@[::1]/a',
  'postgres://a@%2Fvar%2Frun%2Fpostgresql/a',
  'postgres://a@db/a?host=/var/run/postgresql',
])('a connection on this machine may be unencrypted: %s', (url) => {
  expect(read(url)).toBe(url);
});

test.each(['localhost.example.com', '127.0.0.1.example.com', '10.127.0.1', '0.0.0.0'])(
  'a host whose name looks like this machine is another one: %s',
  (host) => {
    expect(() => read(`postgres://a@${host}/a`)).toThrow('must be a URL with');
  },
);

test('a text that is no URL is refused', () => {
  expect(() => read('db:5432')).toThrow('DATABASE_URL');
});
