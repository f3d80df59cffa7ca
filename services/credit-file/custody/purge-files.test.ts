import { randomBytes } from 'node:crypto';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, test } from 'vitest';
import { addApplicant, read } from '../test-credit-file.ts';
import { countDueFiles, purgeFiles, startFilePurge } from './purge-files.ts';
import { NOT_REQUESTED, OPERATOR, RING, useErasures } from './test-erasures.ts';

const { actionsOf, fixture, pool, pull } = useErasures();
const DAY_MS = 24 * 60 * 60 * 1_000;

test('files are deleted after their retention, each with a record, and none before', async () => {
  const { service, applicant } = fixture;
  const other = await addApplicant(service, applicant.retailerId);
  await pull(applicant);
  await pull(other);
  const [old, recent] = [`UPDATE credit_files SET created_at = now() - interval`, '366 days'];
  await pool().query(`${old} '${recent}' WHERE applicant_id = $1`, [applicant.applicantId]);
  const deps = { pool: pool(), keyRing: RING, clock: () => new Date(), fileRetentionDays: 365 };
  const due = await countDueFiles(deps);
  expect(due).toEqual([
    expect.objectContaining({ retailerId: applicant.retailerId, source: 'EQUIFAX', files: 1 }),
  ]);
  expect((await read(service, applicant)).state).toBe('COMPLETE');

  expect(await purgeFiles(deps, OPERATOR)).toEqual({ deleted: 1, failures: [] });
  expect(await countDueFiles(deps)).toEqual([]);
  expect((await actionsOf(applicant)).at(-1)).toBe('FILE_PURGED');
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
  expect((await read(service, other)).state).toBe('COMPLETE');
  const later = { ...deps, clock: () => new Date(Date.now() + 400 * DAY_MS) };
  expect((await purgeFiles(later, OPERATOR)).deleted).toBeGreaterThanOrEqual(1);
});

test('files are deleted while the audit head of the retailer with the oldest one does not open', async () => {
  const { service, applicant } = fixture;
  const other = await addApplicant(service);
  await pull(applicant);
  await pull(other);
  const age = `UPDATE credit_files SET created_at = now() - $2::interval WHERE applicant_id = $1`;
  await pool().query(age, [applicant.applicantId, '400 days']);
  await pool().query(age, [other.applicantId, '366 days']);
  const { retailerId } = applicant;
  const setHead = `UPDATE audit_heads SET sealed = $2 WHERE retailer_id = $1`;
  const { rows } = await pool().query('SELECT sealed FROM audit_heads WHERE retailer_id = $1', [
    retailerId,
  ]);
  await pool().query(setHead, [retailerId, randomBytes(rows[0].sealed.length)]);

  const deps = { pool: pool(), keyRing: RING, clock: () => new Date(), fileRetentionDays: 365 };
  expect(await purgeFiles(deps, OPERATOR)).toEqual({
    deleted: 1,
    failures: [{ retailerId, err: expect.any(Error) }],
  });
  expect((await actionsOf(other)).at(-1)).toBe('FILE_PURGED');
  await pool().query(setHead, [retailerId, rows[0].sealed]);
  expect(await purgeFiles(deps, OPERATOR)).toEqual({ deleted: 1, failures: [] });
});

test('files that are due when the service stops stay until its next start', async () => {
  const { applicant } = fixture;
  await pull(applicant);
  const age = `UPDATE credit_files SET created_at = now() - interval '366 days' WHERE applicant_id = $1`;
  await pool().query(age, [applicant.applicantId]);
  const deps = { pool: pool(), keyRing: RING, clock: () => new Date(), fileRetentionDays: 365 };
  let closed: Promise<void> | undefined;
  const clock = () => {
    closed ??= purge.close();
    return new Date();
  };
  const purge = startFilePurge({ ...deps, clock, log: silentLog });
  purge.wake();
  await expect.poll(() => closed !== undefined).toBe(true);
  await closed;
  expect(await countDueFiles(deps)).toHaveLength(1);
  expect(await purgeFiles(deps, OPERATOR)).toEqual({ deleted: 1, failures: [] });
});
