import { randomBytes, randomUUID } from 'node:crypto';
import { destroyKey, findLiveKeyId } from '@creditlane/crypto/applicant-keys';
import { readKeyId } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { rewrapTables } from '@creditlane/crypto/rotation';
import { unavailable } from '@creditlane/rpc/fault';
import { expect, test } from 'vitest';
import type { AuditActor } from '../audit/audit-record.ts';
import { verifyChain } from '../audit/verify-chain.ts';
import { repeatErasures, takeDueErasure } from '../store/applicant-erasures.ts';
import { lockPullsOf } from '../store/pulls.ts';
import { sealedTables } from '../store/sealed-tables.ts';
import type { TestSubject } from '../test-applications.ts';
import { answered } from '../test-bureau.ts';
import {
  addApplicant,
  asIntegration,
  asPlatform,
  KEYS,
  read,
  readEnded,
  request,
  type TestApplicant,
  useApplicant,
} from '../test-credit-file.ts';
import { eraseApplicant } from './erase-applicant.ts';
import { countDueFiles, purgeFiles } from './purge-files.ts';

const fixture = useApplicant();
const RING = KeyRing.parse(KEYS);
const OPERATOR: AuditActor = { kind: 'platform', id: 'platform-key' };
const DAY_MS = 24 * 60 * 60 * 1_000;

const NOT_REQUESTED = { code: 'credit_file_not_requested' };

function pool() {
  return fixture.service.database.sql;
}

/** Erases by the contract, as the administration does. */
async function eraseByCall({ applicantId, retailerId }: TestApplicant): Promise<void> {
  const request = { applicantId: applicantId.toUpperCase(), retailerId };
  await fixture.service.client.eraseApplicant(request, asPlatform());
}

function erase({ applicantId, retailerId }: TestApplicant) {
  const deps = { pool: pool(), keyRing: RING, clock: () => new Date() };
  const eraser = { actor: OPERATOR, requestId: 'erasure-1' };
  return eraseApplicant(deps, { applicantId, retailerId }, eraser);
}

const keyOf = ({ applicationId, applicantId }: TestApplicant) => `${applicationId} ${applicantId}`;

/** What the applications service holds of the applicant. */
function subjectOf(applicant: TestApplicant): TestSubject | undefined {
  return fixture.service.applications.subjects.get(keyOf(applicant));
}

async function actionsOf({ applicantId }: TestApplicant): Promise<string[]> {
  const { rows } = await pool().query(
    `SELECT action, outcome FROM audit_records WHERE applicant_id = $1 ORDER BY seq`,
    [applicantId],
  );
  return rows.map(({ action, outcome }) => (outcome === null ? action : `${action} ${outcome}`));
}

/** How the applicant's only pull stands. */
async function pullOf({ applicantId }: TestApplicant) {
  const select = 'SELECT state, failure FROM pulls WHERE applicant_id = $1';
  return (await pool().query(select, [applicantId])).rows[0];
}

async function pull(applicant: TestApplicant) {
  await request(fixture.service, applicant);
  return readEnded(fixture.service, applicant);
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
  await eraseByCall({ ...applicant, retailerId: randomUUID() });
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

/** Waits until no erasure is unfinished. */
async function erasuresEnded(): Promise<void> {
  const unfinished = 'SELECT FROM applicant_erasures WHERE outcome IS NULL';
  await expect.poll(async () => (await pool().query(unfinished)).rowCount).toBe(0);
}

test('data that came back with a backup of the applications service is erased again, with a record of its own', async () => {
  const { service, applicant } = fixture;
  const subject = subjectOf(applicant) as TestSubject;
  await eraseByCall(applicant);
  await erase(applicant);
  await erasuresEnded();
  expect(await actionsOf(applicant)).toEqual(['APPLICANT_DATA_ERASED']);

  service.applications.subjects.set(keyOf(applicant), subject);
  await erase(applicant);
  await erasuresEnded();
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
  expect(await actionsOf(applicant)).toEqual(['APPLICANT_DATA_ERASED', 'APPLICANT_DATA_ERASED']);

  service.applications.subjects.set(keyOf(applicant), subject);
  expect(await repeatErasures(pool(), OPERATOR, new Date())).toBeGreaterThanOrEqual(1);
  await erasuresEnded();
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
  const { rows } = await pool().query(
    `SELECT actor FROM audit_records WHERE applicant_id = $1 ORDER BY seq`,
    [applicant.applicantId],
  );
  expect(rows.map(({ actor }) => actor)).toEqual(['platform-key', OPERATOR.id, OPERATOR.id]);
  expect(await verifyChain(pool(), RING, applicant.retailerId)).toMatchObject({ kind: 'whole' });
});

test('files that came back with a backup of this service are erased again', async () => {
  const { service, applicant } = fixture;
  await pull(applicant);
  const copy = 'SELECT * FROM applicant_keys WHERE applicant_id = $1';
  const { rows } = await pool().query(copy, [applicant.applicantId]);
  await eraseByCall(applicant);
  const restore = `UPDATE applicant_keys SET sealed = $2, sealed_with = $3, destroyed_at = NULL
    WHERE id = $1`;
  await pool().query(restore, [rows[0].id, rows[0].sealed, rows[0].sealed_with]);
  await eraseByCall(applicant);
  expect(await findLiveKeyId(pool(), applicant)).toBeUndefined();
  expect((await actionsOf(applicant)).slice(-3)).toEqual([
    ...['APPLICANT_ERASED', 'APPLICANT_DATA_ERASED', 'APPLICANT_ERASED'],
  ]);
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
});

test('files that a backup brought back are deleted, although a newer dump of the keys has destroyed their key', async () => {
  const { applicant } = fixture;
  await pull(applicant);
  const destroy = `UPDATE applicant_keys SET sealed = NULL, sealed_with = NULL, destroyed_at = now()
    WHERE applicant_id = $1`;
  await pool().query(destroy, [applicant.applicantId]);
  expect(await erase(applicant)).toEqual({ files: 1 });
  expect(await actionsOf(applicant)).toContain('APPLICANT_ERASED');
  expect(await erase(applicant)).toEqual({ files: 0 });
  const records = (await actionsOf(applicant)).filter((action) => action === 'APPLICANT_ERASED');
  expect(records).toHaveLength(1);
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
  const waiting = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await expect.poll(async () => (await pool().query(waiting)).rowCount).toBe(1);
  expect(await findLiveKeyId(pool(), applicant)).toBeDefined();
  await requesting.query('COMMIT');
  requesting.release();
  expect((await erased).files).toBe(1);
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
  await eraseByCall({ ...applicant, retailerId: randomUUID() });
  expect(await actionsOf(applicant)).toEqual([]);
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('Tremblay');
  await eraseByCall(applicant);
  expect(await actionsOf(applicant)).toEqual(['APPLICANT_DATA_ERASED']);
  expect(subjectOf(applicant)?.applicant?.lastName).toBe('');
  await expect(read(service, applicant)).rejects.toMatchObject(NOT_REQUESTED);
});

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

test('while records are wrapped with a new key, reads and pulls go on; afterwards none names the old key', async () => {
  const { service } = fixture;
  const next = `k2:${randomBytes(32).toString('base64')}`;
  const both = `${next},${KEYS}`;
  const applicants = [];
  for (let n = 0; n < 2; n += 1) applicants.push(await addApplicant(service));
  for (const applicant of applicants) await pull(applicant);
  // Every replica knows the new key before any of them wraps with it.
  await service.restart(`${KEYS},${next}`);
  const replica = await service.startReplica({ KEY_RING: both });
  const work = applicants.map(async (applicant) => {
    for (let n = 0; n < 2; n += 1) {
      expect((await read(replica, applicant)).file?.hitType).toBe('HIT');
      await request(replica, applicant, { force: true });
      expect((await readEnded({ ...service, client: replica.client }, applicant)).state).toBe(
        'COMPLETE',
      );
    }
  });
  const rewrap = () => rewrapTables(KeyRing.parse(both), sealedTables(pool()), () => {});
  const rotate = async () => {
    for (let n = 0; n < 3; n += 1) await rewrap();
  };
  await Promise.all([...work, rotate()]);
  await service.stop();
  expect(await rewrap()).toBe(true);

  for (const table of ['applicant_keys', 'bureau_credentials', 'audit_heads']) {
    const { rows } = await pool().query(
      `SELECT sealed, sealed_with FROM ${table} WHERE sealed IS NOT NULL`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(new Set(rows.map((row) => row.sealed_with))).toEqual(new Set(['k2']));
    expect(new Set(rows.map((row) => readKeyId(row.sealed)))).toEqual(new Set(['k2']));
  }
  // The old key is removed.
  await service.restart(next);
  for (const applicant of applicants) {
    expect((await read(service, applicant)).file?.hitType).toBe('HIT');
    expect(await verifyChain(pool(), KeyRing.parse(next), applicant.retailerId)).toMatchObject({
      kind: 'whole',
    });
  }
});
