import { readSettings } from '@creditlane/runtime/setting';
import { localSettings } from '@creditlane/service/settings';
import { expect, test } from 'vitest';
import { creditFile } from './service.ts';

const NEEDED = {
  DATABASE_URL: 'postgres://localhost/credit-file',
  KEY_RING: `k1:${Buffer.alloc(32).toString('base64')}`,
  DOCUMENT_LINK_KEY: 'AAAA',
  BUREAUS: 'EQUIFAX',
};

function read(env: Record<string, string>) {
  return readSettings({ ...NEEDED, ...env }, localSettings(creditFile)).own;
}

test.each([
  { FILE_RETENTION_DAYS: '29' },
  { FILE_RETENTION_DAYS: '364', PULL_MIN_AGE_DAYS: '365' },
])('files kept for less time than they are not pulled again, as in %o, are refused', (env) => {
  const message = 'FILE_RETENTION_DAYS: must be at least PULL_MIN_AGE_DAYS';
  expect(() => read(env)).toThrow(message);
});

test('files kept for just as long, or for a day without a minimum age, are allowed', () => {
  expect(read({ FILE_RETENTION_DAYS: '30' }).fileRetentionDays).toBe(30);
  const daily = { FILE_RETENTION_DAYS: '1', PULL_MIN_AGE_DAYS: '0' };
  expect(read(daily)).toMatchObject({ fileRetentionDays: 1, pullMinAgeDays: 0 });
});

test('a minimum age that is no number is the only problem', () => {
  expect(() => read({ PULL_MIN_AGE_DAYS: 'x', FILE_RETENTION_DAYS: '1' })).toThrow(
    /^PULL_MIN_AGE_DAYS: must be a whole number of at least 0 and of at most 365$/,
  );
});

test('a lease is as long as an inquiry may take to be sent, whatever PULL_LEASE says', () => {
  expect(read({}).leaseMs).toBe(10_000);
  expect(read({ BUREAU_DEADLINE: '60s' }).leaseMs).toBe(30_000);
  expect(read({ PULL_LEASE: '500ms' }).leaseMs).toBe(10_000);
  expect(read({ PULL_LEASE: '40s' }).leaseMs).toBe(40_000);
});
