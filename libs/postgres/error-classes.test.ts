import pg from 'pg';
import { QueryFailedError } from 'typeorm';
import { expect, test } from 'vitest';
import { isDatabaseUnavailable } from './error-classes.ts';

const refused = (code: string) => Object.assign(new Error('as PostgreSQL said'), { code });

test('errors of a server that is unreachable, stopping or out of resources mean unavailable', () => {
  for (const code of ['08006', '53100', '53300', '57P01', '57P03', '58030', '25006']) {
    expect(isDatabaseUnavailable(refused(code)), code).toBe(true);
  }
});

test('a missing Unix socket means unavailable, another missing file does not', async () => {
  const client = new pg.Client({ host: '/nowhere', port: 1 });
  expect(isDatabaseUnavailable(await client.connect().catch((error) => error))).toBe(true);
  expect(isDatabaseUnavailable(refused('ENOENT'))).toBe(false);
});

test('a password or a role that PostgreSQL refuses means unavailable: an operator is changing it', () => {
  for (const code of ['28P01', '28000']) expect(isDatabaseUnavailable(refused(code))).toBe(true);
});

test('errors of a refused statement do not mean unavailable', () => {
  for (const code of ['23505', '22012', '40001', '42P01', '57014', 'P0001']) {
    expect(isDatabaseUnavailable(refused(code)), code).toBe(false);
  }
  expect(isDatabaseUnavailable(new Error('another error'))).toBe(false);
  expect(isDatabaseUnavailable('a string')).toBe(false);
});

test('errors wrapped by TypeORM are classified as well', () => {
  const wrapped = (code: string) => new QueryFailedError('SELECT 1', [], refused(code));
  expect(isDatabaseUnavailable(wrapped('57P01'))).toBe(true);
  expect(isDatabaseUnavailable(wrapped('23505'))).toBe(false);
});

test('errors of the driver that have no code are recognised by their messages', async () => {
  // No server listens on this port.
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1, max: 1 });
  expect(isDatabaseUnavailable(await pool.query('SELECT').catch((error) => error))).toBe(true);
  await pool.end();
  // The ended pool gives no connection.
  expect(isDatabaseUnavailable(await pool.query('SELECT').catch((error) => error))).toBe(true);
});
