import { randomUUID } from 'node:crypto';
import { KeyRing } from '@creditlane/crypto/key-ring';
import {
  FailureReason,
  type Pull,
  Source,
} from '@creditlane/proto/creditfile/v1/credit_file_service';
import { describe, expect, test, vi } from 'vitest';
import { verifyChain } from '../audit/verify-chain.ts';
import { answered, fileAnswer } from '../test-bureau.ts';
import {
  KEYS,
  read,
  readEnded,
  request,
  type TestApplicant,
  useApplicant,
} from '../test-credit-file.ts';
import { PullWaits } from './pull-waits.ts';

const fixture = useApplicant();

const refused = answered({ kind: 'refused', reason: 'rejected', code: 'E0807' });

/** Pulls again, and waits for the end. */
async function pullAgain(source = Source.EQUIFAX): Promise<Pull> {
  const { service, applicant } = fixture;
  const pull = await request(service, applicant, { force: true, source });
  await readEnded(service, applicant);
  return pull;
}

async function auditOf({ applicantId }: TestApplicant) {
  const select = `SELECT action, outcome, actor, request_id, file_id FROM audit_records
    WHERE applicant_id = $1 ORDER BY seq`;
  return (await fixture.service.sql.query(select, [applicantId])).rows;
}

test('before any request and for another retailer there is nothing to read', async () => {
  const { service, applicant } = fixture;
  const notRequested = { kind: 'not_found', code: 'credit_file_not_requested' };
  await expect(read(service, applicant)).rejects.toMatchObject(notRequested);
  await pullAgain();
  const notFound = {
    kind: 'not_found',
    code: 'applicant_not_found',
    message: 'No application within your grants has this id and this applicant.',
  };
  const foreign = { ...applicant, retailerId: randomUUID() };
  await expect(read(service, foreign)).rejects.toMatchObject(notFound);
  const misplaced = { ...applicant, applicationId: randomUUID() };
  await expect(read(service, misplaced)).rejects.toMatchObject(notFound);
});

test('a replica that cannot reach the applications service is ready, reads files and takes no request', async () => {
  const { service, applicant } = fixture;
  await pullAgain();
  const replica = await service.startReplica({}, { kind: 'grpc', address: '127.0.0.1:1' });
  try {
    const checks = { applications: 'out of reach' };
    expect(replica.health.ready()).toMatchObject({ ready: true, degraded: true, checks });
    expect(await read(replica, applicant)).toMatchObject({ file: { id: 'U-4711' } });
    const refused = request(replica, applicant, { force: true });
    await expect(refused).rejects.toMatchObject({ kind: 'unavailable' });
  } finally {
    await replica.stop();
  }
});

describe('the last requested pull decides:', () => {
  test('while it is running there is no file, and after a failure the earlier one', async () => {
    const { service, applicant } = fixture;
    await pullAgain();
    service.bureau.answer = async () => refused;
    const release = service.bureau.hold();
    await request(service, applicant, { source: Source.TRANSUNION });
    const running = await read(service, applicant);
    expect(['REQUESTED', 'RUNNING']).toContain(running.state);
    expect(running).toMatchObject({ pull: { source: Source.TRANSUNION }, documentPath: '' });
    expect(running.file).toBeUndefined();
    release();
    const failed = await readEnded(service, applicant);
    expect(failed.state).toBe('FAILED');
    expect(failed.pull?.source).toBe(Source.TRANSUNION);
    expect(failed.file).toMatchObject({ source: 'EQUIFAX', id: 'U-4711' });
  });

  test('without an earlier file a failed and an unknown one have none', async () => {
    const { service } = fixture;
    service.bureau.answer = async () => refused;
    await pullAgain();
    const { state, file } = await read(service, fixture.applicant);
    expect([state, file]).toEqual(['FAILED', undefined]);
    service.bureau.answer = async () => ({ kind: 'unknown', reason: 'connection_lost' });
    await pullAgain();
    const unknown = await read(service, fixture.applicant);
    expect([unknown.state, unknown.file]).toEqual(['UNKNOWN', undefined]);
  });

  test('a complete one of the other source replaces the file', async () => {
    const { service, applicant } = fixture;
    await pullAgain();
    service.bureau.answer = async () => fileAnswer({ id: '', source: 'TRANSUNION' });
    await pullAgain(Source.TRANSUNION);
    const { file } = await read(service, applicant);
    expect(file?.source).toBe('TRANSUNION');
    // TransUnion gives no id.
    expect(file?.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    { what: 'a recent file', options: {} },
    { what: 'the pull of a request id', options: { requestId: 'r-1' } },
  ])('a request that gets $what makes it the one that is read', async ({ options }) => {
    const { service, applicant } = fixture;
    const first = await request(service, applicant, { requestId: 'r-1' });
    await readEnded(service, applicant);
    service.bureau.answer = async () => fileAnswer({ id: '', source: 'TRANSUNION' });
    const second = await pullAgain(Source.TRANSUNION);
    expect((await request(service, applicant, options)).id).toBe(first.id);
    const { pull, file } = await read(service, applicant);
    expect([pull?.id, file?.source]).toEqual([first.id, 'EQUIFAX']);
    const other = await request(service, applicant, { source: Source.TRANSUNION });
    expect(other.id).toBe(second.id);
    expect((await read(service, applicant)).file?.source).toBe('TRANSUNION');
  });

  test('a request that joins a running pull makes it the one that is read', async () => {
    const { service, applicant } = fixture;
    const release = service.bureau.hold();
    const first = await request(service, applicant);
    const second = await request(service, applicant, { source: Source.TRANSUNION });
    expect((await read(service, applicant)).pull?.id).toBe(second.id);
    await request(service, applicant);
    expect((await read(service, applicant)).pull?.id).toBe(first.id);
    release();
    expect((await readEnded(service, applicant)).pull?.id).toBe(first.id);
  });

  test('after a failure the earlier file is that of the pull requested before it', async () => {
    const { service, applicant } = fixture;
    await pullAgain();
    service.bureau.answer = async () => fileAnswer({ id: '', source: 'TRANSUNION' });
    await pullAgain(Source.TRANSUNION);
    await request(service, applicant);
    service.bureau.answer = async () => refused;
    await pullAgain(Source.TRANSUNION);
    const { state, file } = await read(service, applicant);
    expect([state, file?.source]).toEqual(['FAILED', 'EQUIFAX']);
  });
});

const withUnknownHitType = (file: object) => async () =>
  answered({ kind: 'file', file, unknownCodes: [{ section: 'HitCode', code: 'Q' }] });

test('an answer with an unknown hit type and without contents is malformed', async () => {
  const { service, applicant } = fixture;
  service.bureau.answer = withUnknownHitType({ trades: [] });
  await pullAgain();
  const { pull, file } = await read(service, applicant);
  expect(pull?.failure).toBe(FailureReason.MALFORMED_ANSWER);
  expect(file).toBeUndefined();
});

test('an answer with an unknown hit type and a trade is a hit with id and date', async () => {
  const { service, applicant } = fixture;
  service.bureau.answer = withUnknownHitType({ trades: [{ balanceAmount: 1 }] });
  const { id } = await pullAgain();
  const { file } = await read(service, applicant);
  expect(file).toMatchObject({ hitType: 'HIT', source: 'EQUIFAX' });
  expect(file?.requestedDate).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(file?.id).not.toBe(id);
  const metrics = await service.metrics.text();
  expect(metrics).toMatch(/unknown_codes_total{source="EQUIFAX",section="HitCode",code="Q"} [12]/);
});

test('the social insurance number is masked unless the caller asks for it with the permission', async () => {
  const { service, applicant } = fixture;
  await pullAgain();
  const sinWith = async (unmasked: boolean, permissions: string[]) =>
    (await read(service, applicant, { unmasked, permissions })).file?.subject?.sin;
  expect(await sinWith(false, ['READ_SIN'])).toBe('***-***-286');
  expect(await sinWith(true, [])).toBe('***-***-286');
  expect(await sinWith(true, ['READ_SIN'])).toBe('046454286');
});

describe('a read that waits', () => {
  test('is answered when the pull ends, also one of another replica', async () => {
    const { service, applicant } = fixture;
    const release = service.bureau.hold();
    const replica = await service.startReplica();
    await request(service, applicant);
    await expect.poll(() => service.bureau.inquiries.length).toBe(1);
    const waits = [service, replica].map((it) => read(it, applicant, { waitMs: 30_000 }));
    release();
    for (const { state } of await Promise.all(waits)) expect(state).toBe('COMPLETE');
    await replica.stop();
  });

  test('is answered without a file and without a record when its caller reads again after a wait', async () => {
    const { service, applicant } = fixture;
    const release = service.bureau.hold();
    await request(service, applicant);
    const options = { waitMs: 30_000, readsAfterWait: true };
    const wait = vi.spyOn(PullWaits.prototype, 'wait');
    const waited = read(service, applicant, options);
    await expect.poll(() => wait.mock.calls.length).toBe(1);
    release();
    expect(await waited).toMatchObject({ state: 'COMPLETE', hasWaited: true, file: undefined });
    const actions = async () => (await auditOf(applicant)).map(({ action }) => action);
    expect(await actions()).not.toContain('FILE_READ');
    expect(await read(service, applicant, options)).toMatchObject({
      hasWaited: false,
      file: { id: 'U-4711' },
    });
    expect(await actions()).toContain('FILE_READ');
  });

  test('is answered without a file when its time is over', async () => {
    const { service, applicant } = fixture;
    const release = service.bureau.hold();
    await request(service, applicant);
    expect((await read(service, applicant, { waitMs: 50 })).file).toBeUndefined();
    release();
    expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  });
});

test('requests, the inquiry, its end and each read are in the audit log', async () => {
  const { service, applicant } = fixture;
  const subject = randomUUID();
  await request(service, applicant, { subject, xRequestId: 'request-7' });
  await readEnded(service, applicant);
  await request(service, applicant, { subject, xRequestId: 'request-8' });
  await read(service, applicant, { subject, requestId: 'request-9' });
  const records = await auditOf(applicant);
  expect(records.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['PULL_REQUESTED', null],
    ['PULL_SENT', null],
    ['PULL_FINISHED', 'COMPLETE'],
    ['FILE_READ', 'COMPLETE'],
    ['PULL_JOINED', null],
    ['FILE_READ', 'COMPLETE'],
  ]);
  expect(records[0]).toMatchObject({ actor: subject, request_id: 'request-7' });
  expect(records[1]).toMatchObject({ actor: 'credit-file', request_id: 'request-7' });
  expect(records[5]).toMatchObject({ actor: subject, request_id: 'request-9' });
  expect(records[5].file_id).not.toBeNull();
});

describe('the retailer of the group for which a request is made', () => {
  const contextsOf = async ({ retailerId, applicantId }: TestApplicant) => {
    const { sql } = fixture.service;
    const { rows } = await sql.query(
      `SELECT action, retailer_context FROM audit_records WHERE applicant_id = $1
         AND actor_kind = 'integration' ORDER BY seq`,
      [applicantId],
    );
    expect(await verifyChain(sql, KeyRing.parse(KEYS), retailerId)).toMatchObject({
      kind: 'whole',
    });
    return rows.map((row) => [row.action, row.retailer_context]);
  };

  test('is in the audit log', async () => {
    const { service, applicant } = fixture;
    const retailerContext = randomUUID();
    await request(service, applicant, { retailerContext });
    await read(service, applicant, { retailerContext, waitMs: 30_000 });
    await read(service, applicant);
    expect(await contextsOf(applicant)).toEqual([
      ['PULL_REQUESTED', retailerContext],
      ['FILE_READ', retailerContext],
      ['FILE_READ', null],
    ]);
  });

  test('is recorded once the version before, which cannot verify such a record, runs no more', async () => {
    const { service, applicant } = fixture;
    const retailerContext = randomUUID();
    await service.sql.query(
      `UPDATE migrations SET floor = 'any' WHERE name = 'RetailerContexts1766100000000'`,
    );
    for (const isAlone of [false, true]) {
      const replica = await service.startReplica({}, undefined, isAlone);
      try {
        await request(replica, applicant, { retailerContext });
      } finally {
        await replica.stop();
      }
    }
    expect(await contextsOf(applicant)).toEqual([
      ['PULL_REQUESTED', null],
      ['PULL_JOINED', retailerContext],
    ]);
  });
});

test('a read of an earlier file after a failure is recorded with the pull and the consent of the file', async () => {
  const { service, applicant } = fixture;
  const { applicationId, applicantId } = applicant;
  const subject = service.applications.subjects.get(`${applicationId} ${applicantId}`);
  const first = await pullAgain();
  const { consent } = subject ?? {};
  if (subject === undefined || consent === undefined) throw new Error('the consent is missing');
  subject.consent = { ...consent, id: randomUUID() };
  service.bureau.answer = async () => refused;
  await pullAgain(Source.TRANSUNION);
  const { rows } = await service.sql.query(
    `SELECT outcome, pull_id, consent_id, purpose, source, file_id IS NOT NULL AS with_file
     FROM audit_records WHERE applicant_id = $1 AND action = 'FILE_READ' ORDER BY seq DESC LIMIT 1`,
    [applicantId],
  );
  expect(rows).toEqual([
    {
      ...{ outcome: 'FAILED', pull_id: first.id, consent_id: consent.id, source: 'EQUIFAX' },
      ...{ purpose: 'CREDIT_APPLICATION', with_file: true },
    },
  ]);
});
