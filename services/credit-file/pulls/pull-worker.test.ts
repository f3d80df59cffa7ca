import { setTimeout as delay } from 'node:timers/promises';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import { expect, test } from 'vitest';
import {
  endLostPulls,
  endPull,
  markSent,
  nextDueMsQuery,
  postponePull,
  renewLeases,
  retailersOfLostQuery,
  takeDuePullsQuery,
} from '../store/pull-states.ts';
import { addApplicant, read, readEnded, request } from '../test-credit-file.ts';
import { usePulls } from './test-pulls.ts';

const { fixture, inquiries, stateOf } = usePulls();

/** Ends the lease of a pull, as if its owner had died, and returns its row. The owner, which lives, renews it again. */
async function endLease(id: string) {
  const update = `UPDATE pulls SET due_at = now() - interval '1 second'
    WHERE id = $1 AND finished_at IS NULL`;
  await fixture.service.sql.query(update, [id]);
  return stateOf(id);
}

test('a pull whose owner died before it sent the inquiry is taken over, and sent once', async () => {
  const { service, applicant } = fixture;
  // The owner's process still runs, and renews the lease, so another process takes the pull over.
  const replica = await service.startReplica();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  // The answer to the request comes at once, and those to the owners are held back.
  service.applications.onAnswer = () => {
    service.applications.delay = held;
  };
  const { id } = await request(service, applicant);
  await expect.poll(() => service.applications.callCount).toBeGreaterThan(0);
  await expect.poll(async () => (await stateOf(id)).fence).toBe(1);
  await expect.poll(async () => (await endLease(id)).fence).toBeGreaterThan(1);
  release();
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(1);
  await replica.stop();
});

test('a pull whose lease ends just before its inquiry is recorded is tried again at once, not after another lease', async () => {
  const { service, applicant } = fixture;
  // The first record of the sending finds no row, as it does when the lease has ended.
  await service.sql.query(`CREATE FUNCTION refuse_first_sending() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RETURN CASE WHEN NEW.sent_at IS NULL OR NEW.fence > 1 THEN NEW END; END $$;
    CREATE TRIGGER refuse_first_sending BEFORE UPDATE ON pulls
      FOR EACH ROW EXECUTE FUNCTION refuse_first_sending()`);
  const { id } = await request(service, applicant);
  const { state } = await readEnded(service, applicant);
  await service.sql.query('DROP FUNCTION refuse_first_sending CASCADE');
  expect(state).toBe('COMPLETE');
  expect(await stateOf(id)).toMatchObject({ attempts: 1, fence: 2 });
  expect(inquiries()).toHaveLength(1);
});

test('a pull whose owner died after it sent the inquiry is unknown, and is not sent again', async () => {
  const { service, applicant } = fixture;
  const replica = await service.startReplica();
  const release = service.bureau.hold();
  const { id } = await request(service, applicant);
  await expect.poll(() => inquiries().length).toBe(1);
  await expect.poll(async () => (await endLease(id)).state).toBe('UNKNOWN');
  // The owner's process still runs, so the pull gets its answer.
  release();
  await expect.poll(async () => (await stateOf(id)).state).toBe('COMPLETE');
  expect((await read(service, applicant)).file).toMatchObject({ id: 'U-4711' });
  expect(inquiries()).toHaveLength(1);
  await replica.stop();
});

test('a pull whose lease ended while the database was away goes on, leased for the whole inquiry', async () => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  const release = service.bureau.hold();
  const { id } = await request(service, applicant);
  await expect.poll(() => inquiries().length).toBe(1);
  const lease = async () => {
    const text = 'SELECT due_at - now() > $2::interval AS is_long FROM pulls WHERE id = $1';
    return (await service.sql.query(text, [id, '25 s'])).rows[0].is_long;
  };
  expect(await lease()).toBe(true);
  await endLease(id);
  await expect.poll(lease).toBe(true);
  expect((await stateOf(id)).state).toBe('RUNNING');
  await inTransaction(service.sql, async (tx) => {
    await tx.query(`UPDATE pulls SET due_at = now() WHERE id = $1`, [id]);
    expect(await runQuery(tx, retailersOfLostQuery([]))).toContain(retailerId);
    expect(await runQuery(tx, retailersOfLostQuery([id]))).toEqual([]);
    expect(await endLostPulls(tx, retailerId, [id])).toEqual([]);
  });
  release();
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
});

test('a lost pull of a retailer whose audit log was damaged keeps no other retailer’s pull waiting', async () => {
  const { service, applicant } = fixture;
  const { id } = await request(service, applicant);
  await readEnded(service, applicant);
  const damage = `UPDATE audit_heads SET sealed = '\\x00' WHERE retailer_id = $1`;
  await service.sql.query(damage, [applicant.retailerId]);
  const lose = `UPDATE pulls SET state = 'RUNNING', finished_at = NULL, due_at = now() WHERE id = $1`;
  await service.sql.query(lose, [id]);
  const other = await addApplicant(service);
  await request(service, other);
  expect((await readEnded(service, other)).state).toBe('COMPLETE');
  expect((await stateOf(id)).state).toBe('RUNNING');
  // It does not hide when another pull becomes due, either.
  const { rows } = await service.sql.query(
    `UPDATE pulls SET state = 'REQUESTED', finished_at = NULL, sent_at = NULL, due_at = now() + interval '30 seconds'
     WHERE applicant_id = $1 RETURNING id`,
    [other.applicantId],
  );
  const nextMs = await runQuery(service.sql, nextDueMsQuery());
  expect(nextMs).toBeGreaterThan(20_000);
  const end = 'UPDATE pulls SET finished_at = now(), due_at = NULL WHERE id = $1';
  await service.sql.query(end, [rows[0].id]);
  await service.sql.query('UPDATE pulls SET finished_at = now() WHERE id = $1', [id]);
});

test('two replicas send one inquiry for each of the pulls that are requested at once', async () => {
  const { service } = fixture;
  const replica = await service.startReplica();
  const applicants = await Promise.all(Array.from({ length: 12 }, () => addApplicant(service)));
  await Promise.all(
    applicants.map((it, index) => request(index % 2 === 0 ? service : replica, it)),
  );
  for (const it of applicants) expect((await readEnded(service, it)).state).toBe('COMPLETE');
  const references = inquiries().map(({ inquiry }) => inquiry.reference);
  expect([references.length, new Set(references).size]).toEqual([12, 12]);
  await replica.stop();
});

test('the lease of a pull that waits for its bureau is renewed', async () => {
  const { service, applicant } = fixture;
  const replica = await service.startReplica({ PULL_LEASE: '2s', BUREAU_DEADLINE: '1s' });
  const release = service.bureau.hold();
  await service.stop();
  const { id } = await request(replica, applicant);
  await expect.poll(() => inquiries().length).toBe(1);
  const dueAt = async () =>
    (await service.sql.query('SELECT due_at FROM pulls WHERE id = $1', [id])).rows[0].due_at;
  const first = await dueAt();
  await expect.poll(dueAt).not.toEqual(first);
  expect((await stateOf(id)).state).toBe('RUNNING');
  release();
  expect((await read(replica, applicant, { waitMs: 30_000 })).state).toBe('COMPLETE');
  await replica.stop();
  await service.restart();
});

test('a stopping service gives back what it has not sent, and waits for what it has sent', async () => {
  const { service, applicant } = fixture;
  const release = service.bureau.hold();
  const { id } = await request(service, applicant);
  await expect.poll(() => inquiries().length).toBe(1);
  const stopped = service.stop();
  release();
  await stopped;
  expect((await stateOf(id)).state).toBe('COMPLETE');
  await service.restart();
});

test('a stopping service has the time in which a bureau may answer, and two seconds to store the answer', () => {
  // BUREAU_DEADLINE is 20 s, and each other part has 10 s.
  expect(fixture.service.closers.extraMs).toBe(20_000 + 2_000 - 10_000);
});

test('a former owner changes nothing', async () => {
  const { service, applicant } = fixture;
  const pool = service.sql;
  service.applications.onAnswer = () => {
    service.applications.delay = new Promise(() => {});
  };
  await request(service, applicant);
  const select = 'SELECT id, fence FROM pulls WHERE applicant_id = $1 AND fence = 1';
  const running = () => service.sql.query(select, [applicant.applicantId]);
  await expect.poll(async () => (await running()).rowCount).toBe(1);
  const [former] = (await running()).rows;
  await service.sql.query('UPDATE pulls SET fence = fence + 1 WHERE id = $1', [former.id]);
  const consent = {
    ...{ consentId: 'c', purpose: 'p', textVersion: 't', documentSha256: '', capturedBy: '' },
  };
  expect(await markSent(pool, former, consent, 1_000)).toBe(false);
  const delay = { delayMs: 0, countsAsAttempt: true };
  expect(await postponePull(pool, former, delay)).toBe(false);
  await renewLeases(pool, [former], { leaseMs: 3_600_000, sentLeaseMs: 3_600_000 });
  expect(await endPull(pool, former, { state: 'UNKNOWN', wasSent: true })).toBeUndefined();
  expect(await stateOf(former.id)).toMatchObject({ state: 'RUNNING', fence: 2, sent_at: null });

  // A lease that has ended is none, though nobody else has taken the pull.
  const owner = { id: former.id, fence: 2 };
  await endLease(former.id);
  expect(await markSent(pool, owner, consent, 1_000)).toBe(false);
  expect(await endLostPulls(pool, applicant.retailerId, [])).toEqual([]);
  expect(await runQuery(pool, takeDuePullsQuery({ limit: 0, share: 1, leaseMs: 1_000 }))).toEqual(
    [],
  );
  Object.assign(service.applications, { onAnswer: undefined, delay: undefined });
  await service.restart();
});

test('a retailer with many pulls at a bureau that hangs leaves room for another retailer', async () => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  const release = service.bureau.hold();
  const crowd = [applicant];
  while (crowd.length < 12) crowd.push(await addApplicant(service, retailerId));
  for (const one of crowd) await request(service, one);
  await expect.poll(() => inquiries().length).toBe(8);
  const other = await addApplicant(service);
  const { id } = await request(service, other);
  const references = () => inquiries().map(({ inquiry }) => inquiry.reference);
  await expect.poll(references).toContain(id);
  expect(inquiries()).toHaveLength(9);
  release();
  for (const one of crowd) expect((await readEnded(service, one)).state).toBe('COMPLETE');
  expect(new Set(references()).size).toBe(13);
});

test('a process that was held up for longer than its lease does not send, and tries again', async () => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  await service.stop();
  const replica = await service.startReplica({ PULL_LEASE: '1s', BUREAU_DEADLINE: '1s' });
  const holder = await service.sql.connect();
  // The record of the sending waits for the head of the audit log, for longer than the lease lasts.
  const hold = async () => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM audit_heads WHERE retailer_id = $1 FOR UPDATE', [retailerId]);
  };
  service.applications.onAnswer = () => {
    service.applications.onAnswer = undefined;
    service.applications.delay = held;
  };
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { id } = await request(replica, applicant);
  await hold();
  release();
  const blocked = `SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE relname = 'audit_heads' AND mode = 'RowShareLock' AND pid IN (
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock')`;
  const isBlocked = async () => (await service.sql.query(blocked)).rowCount;
  await expect.poll(isBlocked).toBeGreaterThan(0);
  await delay(1_100);
  expect(inquiries()).toEqual([]);
  await holder.query('ROLLBACK');
  holder.release();
  expect((await read(replica, applicant, { waitMs: 30_000 })).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(1);
  // On a slow machine further leases may have ended.
  expect((await stateOf(id)).attempts).toBeGreaterThanOrEqual(1);
  await replica.stop();
  await service.restart();
});
