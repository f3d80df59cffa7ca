import { randomUUID } from 'node:crypto';
import { destroyKey, findLiveKeyId } from '@creditlane/crypto/applicant-keys';
import { expect, test } from 'vitest';
import { verifyChain } from '../audit/verify-chain.ts';
import { insertErasure } from '../store/applicant-erasures.ts';
import { lockPullsOf } from '../store/pulls.ts';
import type { TestSubject } from '../test-applications.ts';
import { answered } from '../test-bureau.ts';
import {
  asIntegration,
  read,
  readEnded,
  request,
  type TestApplicant,
} from '../test-credit-file.ts';
import { keyOf, NOT_REQUESTED, RING, useErasures } from './test-erasures.ts';

const { actionsOf, erase, eraseByCall, fixture, pool, pull, subjectOf } = useErasures();

/** How the applicant's only pull stands. */
async function pullOf({ applicantId }: TestApplicant) {
  const select = 'SELECT state, failure FROM pulls WHERE applicant_id = $1';
  return (await pool().query(select, [applicantId])).rows[0];
}

/** Holds the next requested pull before its inquiry, where it asks for the applicant again, until the result is called. */
function holdPull(): () => void {
  const { applications } = fixture.service;
  const held = Promise.withResolvers<void>();
  applications.onAnswer = () => {
    applications.delay = held.promise;
  };
  return held.resolve;
}

/** Resolves once a transaction waits for another one that has locked the pulls of an applicant. */
async function expectAdvisoryWait(): Promise<void> {
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await expect.poll(async () => (await pool().query(waiting)).rowCount).toBe(1);
}

test('after an erasure a read answers as if no file was ever pulled, and the log says why', async () => {
  const { service, applicant } = fixture;
  expect((await pull(applicant)).file?.hitType).toBe('HIT');
  expect(await erase(applicant)).toEqual({ files: 1 });
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
  // The service finishes by itself what was begun.
  await expect
    .poll(() => actionsOf(applicant))
    .toEqual([
      'PULL_REQUESTED',
      'PULL_SENT',
      'PULL_FINISHED COMPLETE',
      'FILE_READ COMPLETE',
      'APPLICANT_ERASED',
      'APPLICANT_DATA_ERASED',
    ]);
  expect(await erase(applicant)).toEqual({ files: 0 });
  const { rows } = await pool().query('SELECT FROM credit_files WHERE applicant_id = $1', [
    applicant.applicantId,
  ]);
  expect(rows).toEqual([]);
  expect(await verifyChain(pool(), RING, applicant.retailerId)).toMatchObject({ kind: 'whole' });
});

test('the administration erases as often as it asks, one retailer’s applicant, and an integration cannot', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  const { applicantId, retailerId } = applicant;
  const asRetailer = asIntegration(retailerId);
  const call = service.client.eraseApplicant({ applicantId, retailerId }, asRetailer);
  await expect(call).rejects.toMatchObject({ code: 'caller_not_allowed' });
  const foreign = eraseByCall({ ...applicant, retailerId: randomUUID() });
  await expect(foreign).rejects.toMatchObject({ kind: 'not_found', code: 'applicant_not_found' });
  expect((await read(service, applicant)).state).toBe('COMPLETE');
  await eraseByCall(applicant);
  await eraseByCall(applicant);
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
  const { rows } = await pool().query(
    `SELECT action, actor_kind, actor FROM audit_records
     WHERE applicant_id = $1 AND action LIKE '%ERASED' ORDER BY seq`,
    [applicantId],
  );
  const by = { actor_kind: 'platform', actor: 'platform-key' };
  expect(rows).toEqual([
    { action: 'APPLICANT_ERASED', ...by },
    { action: 'APPLICANT_DATA_ERASED', ...by },
  ]);
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
});

test('an applicant whom the applications service has lost is erased with the pulls that are there', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  service.applications.subjects.delete(keyOf(applicant));
  await eraseByCall(applicant);
  await eraseByCall(applicant);
  expect(await actionsOf(applicant)).toContain('APPLICANT_ERASED');
});

test('a request after an erasure is refused, whatever the applications service says', async () => {
  const { service, applicant } = fixture;
  const subject = subjectOf(applicant);
  await pull(applicant);
  await eraseByCall(applicant);
  const refused = { code: 'applicant_erased' };
  await expect(request(service, applicant)).rejects.toMatchObject(refused);
  // An answer of before the erasure, which the request has waited for.
  service.applications.subjects.set(keyOf(applicant), subject as TestSubject);
  await expect(request(service, applicant)).rejects.toMatchObject(refused);
  expect((await actionsOf(applicant)).at(-1)).toBe('PULL_REFUSED applicant_erased');
  expect(service.bureau.inquiries).toHaveLength(1);
});

test('an erasure forgets the callers’ own ids of requests, so that a repeated one is refused, too', async () => {
  const { service, applicant } = fixture;
  const stale = subjectOf(applicant);
  const release = service.bureau.hold();
  await request(service, applicant, { requestId: 'jane-doe' });
  await request(service, applicant, { requestId: 'jane-doe-again' });
  await expect.poll(() => service.bureau.inquiries.length).toBe(1);
  await erase(applicant);
  // An answer of before the erasure, to requests that find the pull under way.
  service.applications.subjects.set(keyOf(applicant), stale as TestSubject);
  for (const requestId of ['jane-doe', 'jane-doe-again', 'jane-doe-later']) {
    const repeated = request(service, applicant, { requestId });
    await expect(repeated).rejects.toMatchObject({ code: 'applicant_erased' });
  }
  release();
  await expect.poll(() => actionsOf(applicant)).toContain('PULL_FINISHED COMPLETE');
  const kept = `SELECT request_key FROM pulls WHERE applicant_id = $1 AND request_key IS NOT NULL
    UNION ALL SELECT request_key FROM joined_requests WHERE applicant_id = $1`;
  expect((await pool().query(kept, [applicant.applicantId])).rows).toEqual([]);
});

test('an erasure while a pull is being recorded waits for it, and neither is refused', async () => {
  const { service, applicant } = fixture;
  await request(service, applicant, { requestId: 'jane-doe' });
  await readEnded(service, applicant);
  // As the worker does: first the pull, then the key.
  const recording = await pool().connect();
  await recording.query('BEGIN');
  await recording.query('SELECT FROM pulls WHERE applicant_id = $1 FOR UPDATE', [
    applicant.applicantId,
  ]);
  const erased = erase(applicant);
  const waiting = `SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await pool().query(waiting)).rowCount).toBeGreaterThan(0);
  await recording.query('SELECT FROM applicant_keys WHERE applicant_id = $1 FOR UPDATE NOWAIT', [
    applicant.applicantId,
  ]);
  await recording.query('COMMIT');
  recording.release();
  expect((await erased).files).toBe(1);
});

test('an erasure while the bureau has the inquiry: the file is not stored', async () => {
  const { service, applicant } = fixture;
  const release = service.bureau.hold();
  await request(service, applicant);
  await expect.poll(() => service.bureau.inquiries.length).toBe(1);
  expect((await erase(applicant)).files).toBe(0);
  release();
  await expect.poll(() => actionsOf(applicant)).toContain('PULL_FINISHED COMPLETE');
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
  const files = 'SELECT FROM credit_files WHERE applicant_id = $1';
  expect((await pool().query(files, [applicant.applicantId])).rowCount).toBe(0);
});

test.each([
  ['failed', answered({ kind: 'malformed', problem: '' }), 'FAILED'],
  ['unknown', { kind: 'unknown', reason: 'connection_lost' } as const, 'UNKNOWN'],
])('after an erasure a read gives no pull that is %s, either', async (_, outcome, state) => {
  const { service, applicant } = fixture;
  service.bureau.answer = async () => outcome;
  expect((await pull(applicant)).state).toBe(state);
  await eraseByCall(applicant);
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
});

test('an erasure before the inquiry is sent: none is sent, the pull fails, and a read finds none', async () => {
  const { service, applicant } = fixture;
  const resumePull = holdPull();
  await request(service, applicant);
  expect((await erase(applicant)).files).toBe(0);
  resumePull();
  await expect.poll(() => pullOf(applicant)).toEqual({ state: 'FAILED', failure: 'CONSENT' });
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
  const actions = ['PULL_REQUESTED', 'PULL_FINISHED CONSENT', 'APPLICANT_ERASED'];
  const ofPull = (await actionsOf(applicant)).filter((it) => it !== 'APPLICANT_DATA_ERASED');
  expect(ofPull).toEqual(actions);
  expect(service.bureau.inquiries).toEqual([]);
});

test('an erasure waits for a request of the applicant, so that it ends the new pull, too', async () => {
  const { applicant } = fixture;
  await pull(applicant);
  const requesting = await pool().connect();
  await requesting.query('BEGIN');
  await lockPullsOf(requesting, applicant.applicantId);
  const erased = erase(applicant);
  await expectAdvisoryWait();
  expect(await findLiveKeyId(pool(), applicant)).toBeDefined();
  await requesting.query('COMMIT');
  requesting.release();
  expect((await erased).files).toBe(1);
});

test('a request that is repeated with its id while an erasure is under way is refused once it is erased', async () => {
  const { service, applicant } = fixture;
  await request(service, applicant, { requestId: 'deal-7781' });
  await readEnded(service, applicant);
  const erasing = await pool().connect();
  await erasing.query('BEGIN');
  await lockPullsOf(erasing, applicant.applicantId);
  const { applicantId, retailerId } = applicant;
  const actor = { kind: 'operator', id: 'test' } as const;
  await insertErasure(erasing, { applicantId, retailerId, actor }, new Date());
  const repeated = request(service, applicant, { requestId: 'deal-7781' });
  await expectAdvisoryWait();
  await erasing.query('COMMIT');
  erasing.release();
  await expect(repeated).rejects.toMatchObject({ code: 'applicant_erased' });
});

test('a pull whose key is destroyed sends no inquiry, and has failed', async () => {
  const { service, applicant } = fixture;
  const resumePull = holdPull();
  await request(service, applicant);
  await destroyKey(pool(), applicant, new Date());
  resumePull();
  await expect.poll(() => pullOf(applicant)).toEqual({ state: 'FAILED', failure: 'CONSENT' });
  expect(service.bureau.inquiries).toEqual([]);
});

test('a pull that an erasure ends is counted, ends a wait, and is recorded with its consent', async () => {
  const { service, applicant } = fixture;
  const series = /pulls_total\{source="EQUIFAX",state="FAILED",failure="CONSENT"\} (\d+)/;
  const count = async () => Number(series.exec(await service.metrics.text())?.[1]);
  const before = await count();
  const resumePull = holdPull();
  const { id } = await request(service, applicant);
  const ended = expect(readEnded(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
  await eraseByCall(applicant);
  resumePull();
  await ended;
  expect((await count()) - before).toBe(1);
  const { rows } = await pool().query(
    `SELECT action, application_id, purpose, consent_id FROM audit_records
     WHERE pull_id = $1 AND action IN ('PULL_REQUESTED', 'PULL_FINISHED') ORDER BY seq`,
    [id],
  );
  const [requested, finished] = rows;
  expect(requested.consent_id).not.toBeNull();
  expect(finished).toEqual({ ...requested, action: 'PULL_FINISHED' });
});

test('an erasure of an applicant without a pull erases the personal data alone', async () => {
  const { service, applicant } = fixture;
  const foreign = eraseByCall({ ...applicant, retailerId: randomUUID() });
  await expect(foreign).rejects.toMatchObject({ code: 'applicant_not_found' });
  expect(await actionsOf(applicant)).toEqual([]);
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('Tremblay');
  await eraseByCall(applicant);
  expect(await actionsOf(applicant)).toEqual(['APPLICANT_DATA_ERASED']);
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
});
