import { randomUUID } from 'node:crypto';
import { unavailable } from '@creditlane/rpc/fault';
import { expect, test } from 'vitest';
import { takeDueErasure } from '../store/applicant-erasures.ts';
import { addApplicant, read } from '../test-credit-file.ts';
import { NOT_REQUESTED, useErasures } from './test-erasures.ts';

const { actionsOf, erase, eraseByCall, erasuresEnded, fixture, pool, pull, subjectOf } =
  useErasures();

test('an erasure while the applications service is away is unavailable, and finished once it is back', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  service.applications.failure = unavailable('the fake is away');
  await expect(eraseByCall(applicant)).rejects.toMatchObject({ kind: 'unavailable' });
  await expect(read(service, applicant)).rejects.toMatchObject({ kind: 'unavailable' });
  // As after a crash: another process finds what is left to do.
  await service.restart();
  service.applications.failure = undefined;
  await expect.poll(() => subjectOf(applicant)?.applicant?.lastName).toBe('');
  await expect.poll(() => actionsOf(applicant)).toContain('APPLICANT_DATA_ERASED');
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
});

test('erasures that fail all the time are tried less and less, and hold up no other', async () => {
  const { service, applicant } = fixture;
  const replica = await service.startReplica();
  const other = await addApplicant(service);
  const failing = Array.from({ length: 120 }, () => randomUUID());
  for (const id of failing) service.applications.failingErasures.add(id);
  await pool().query(
    `INSERT INTO applicant_erasures (applicant_id, retailer_id, actor_kind, actor, requested_at)
     SELECT id, $2, 'operator', 'command', now() - interval '1 hour' FROM unnest($1::uuid[]) AS id`,
    [failing, applicant.retailerId],
  );
  await erase(other);
  await expect.poll(() => subjectOf(other)?.applicant?.lastName).toBe('');
  const attempts = async (limit: number) => {
    const { rows } = await pool().query(
      `SELECT count(*)::int AS n FROM applicant_erasures WHERE outcome IS NULL AND attempts >= $1`,
      [limit],
    );
    return rows[0].n;
  };
  await expect.poll(() => attempts(2)).toBe(failing.length);
  const text = await service.metrics.text();
  expect(text).toContain(`credit_file_unfinished_erasures ${failing.length}`);
  expect(text).toMatch(/credit_file_oldest_unfinished_erasure_seconds 36\d\d/);
  // No replica has tried an erasure without taking it; that one takes each is the next test's.
  const { failedErasures } = service.applications;
  const { rows } = await pool().query(
    'SELECT sum(attempts)::int AS taken FROM applicant_erasures WHERE outcome IS NULL',
  );
  expect(failedErasures).toBeLessThanOrEqual(rows[0].taken);
  await replica.stop();
  service.applications.failingErasures.clear();
  await pool().query('DELETE FROM applicant_erasures WHERE applicant_id = ANY ($1)', [failing]);
});

test('an erasure is taken once, and is due again after a backoff that doubles up to its limit', async () => {
  const { service, applicant } = fixture;
  await service.stop();
  await erase(applicant);
  const backoff = { baseMs: 60_000, capMs: 200_000 };
  const due = `UPDATE applicant_erasures SET due_at = now() - interval '1 day' WHERE applicant_id = $1
    RETURNING 1`;
  const wait = `SELECT extract(epoch FROM due_at - $2::timestamptz)::float8 AS s FROM applicant_erasures
    WHERE applicant_id = $1`;
  const databaseTime = async () =>
    (await pool().query('SELECT clock_timestamp()::text AS t')).rows[0].t;
  for (const [attempts, leastS, mostS] of [
    [1, 45, 60],
    [2, 90, 120],
    [3, 150, 200],
    [4, 150, 200],
  ] as const) {
    await pool().query(due, [applicant.applicantId]);
    const before = await databaseTime();
    const taken = await Promise.all([1, 2, 3].map(() => takeDueErasure(pool(), backoff)));
    expect(taken.filter((it) => it !== undefined)).toMatchObject([{ attempts }]);
    const after = await databaseTime();
    const waitSince = async (time: string) =>
      (await pool().query(wait, [applicant.applicantId, time])).rows[0].s;
    expect(await waitSince(before)).toBeGreaterThanOrEqual(leastS);
    expect(await waitSince(after)).toBeLessThanOrEqual(mostS);
  }
  await pool().query(due, [applicant.applicantId]);
  await service.restart();
  await erasuresEnded();
});
