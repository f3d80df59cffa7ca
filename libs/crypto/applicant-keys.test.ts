import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { createApplicantKeysSql } from './applicant-keys.ts';

test.each([
  { unique: 'live', sha256: '895b97d9d493a4710a73cd9c6b8006a491dba82fe8b93d119292636256bd6cfd' },
  { unique: 'ever', sha256: '95cf0a55b4cfc1d4f523691fc20a1496deb6041b94e3b7115d60f6a59b6754f9' },
] as const)(
  'the SQL of the table with one key $unique stays as the migrations have released it',
  ({ unique, sha256 }) => {
    const sql = JSON.stringify(createApplicantKeysSql(unique));
    expect(createHash('sha256').update(sql).digest('hex')).toBe(sha256);
  },
);
