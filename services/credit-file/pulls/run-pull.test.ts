import { seal } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { FailureReason, Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { internal, unavailable } from '@creditlane/rpc/fault';
import { startOtlpReceiver } from '@creditlane/runtime/telemetry/test-otlp-receiver';
import { startTracing } from '@creditlane/runtime/telemetry/tracing';
import { createTestProcess } from '@creditlane/runtime/test-process';
import { expect, test } from 'vitest';
import { sealedCredentials } from '../store/sealed-tables.ts';
import { answered, fileAnswer } from '../test-bureau.ts';
import { addApplicant, KEYS, readEnded, request } from '../test-credit-file.ts';
import { neverSent, usePulls } from './test-pulls.ts';

const { answerWith, fixture, inquiries, stateOf } = usePulls();

/** Contents that are no credentials, in a seal that opens. */
function sealedOtherwise(retailerId: string): Buffer {
  return seal(
    KeyRing.parse(KEYS),
    Buffer.of(0xff),
    sealedCredentials.context('EQUIFAX', retailerId),
  );
}

test('an inquiry is a span of the trace of its request, with its outcome and without personal data', async () => {
  const { service, applicant } = fixture;
  const tracing = createTestProcess('credit-file');
  const receiver = await startOtlpReceiver();
  const { endpoint } = receiver;
  await startTracing({ endpoint, sampleRatio: 1 }, 'credit-file', tracing);
  answerWith(neverSent());
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
  const { id } = await request(service, applicant, { traceparent });
  await readEnded(service, applicant);
  // Sends the spans that wait.
  await tracing.closers.close();
  const inquiries = receiver.spans.filter(({ name }) => name === 'inquiry EQUIFAX');
  await receiver.close();
  const span = {
    traceId,
    kind: 3,
    attributes: {
      'creditlane.application.id': applicant.applicationId,
      'creditlane.pull.id': id,
    },
  };
  const never = { ...span.attributes, 'error.type': 'never_sent connection_refused' };
  expect(inquiries).toMatchObject([{ ...span, attributes: never, failed: true }, span]);
  expect(inquiries[1]?.failed).toBe(false);
  expect(receiver.texts.join()).not.toMatch(/Tremblay|046454286|sesame/);
});

test('an inquiry that was never sent is tried again, and the file comes with one that was', async () => {
  const { service, applicant } = fixture;
  // The breaker is open before the first attempt is recorded as sent.
  service.bureau.refusals = ['breaker_open'];
  answerWith(neverSent());
  const { id } = await request(service, applicant);
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(2);
  expect(await stateOf(id)).toMatchObject({ state: 'COMPLETE', attempts: 2, fence: 3 });
  const sending = "pull_id = $1 AND action IN ('PULL_SENT', 'PULL_NOT_SENT')";
  const text = `SELECT action, outcome FROM audit_records WHERE ${sending} ORDER BY seq`;
  const { rows } = await service.sql.query(text, [id]);
  expect(rows).toEqual([
    { action: 'PULL_SENT', outcome: null },
    { action: 'PULL_NOT_SENT', outcome: 'connection_refused' },
    { action: 'PULL_SENT', outcome: null },
  ]);
});

test('after six inquiries that were never sent the pull has failed, and a request pulls again', async () => {
  const { service, applicant } = fixture;
  answerWith(...Array.from({ length: 6 }, () => neverSent()));
  const { id } = await request(service, applicant);
  const { pull, state } = await readEnded(service, applicant);
  expect([state, pull?.failure]).toEqual(['FAILED', FailureReason.UNAVAILABLE]);
  expect(await stateOf(id)).toMatchObject({ attempts: 5, sent_at: null });
  expect((await request(service, applicant)).id).not.toBe(id);
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(7);
});

test('while the applications service is away nothing is sent, and no attempt is counted for five minutes', async () => {
  const { service, applicant } = fixture;
  service.applications.onAnswer = () => {
    service.applications.failure = unavailable('away');
  };
  const { id } = await request(service, applicant);
  // More often than a pull is attempted.
  await expect.poll(async () => (await stateOf(id)).fence).toBeGreaterThan(7);
  expect(await stateOf(id)).toMatchObject({ attempts: 0, finished_at: null });
  service.now.offsetMs = 5 * 60_000;
  const { pull } = await readEnded(service, applicant);
  expect(pull?.failure).toBe(FailureReason.UNAVAILABLE);
  expect(inquiries()).toEqual([]);
});

test('an error of the applications service that does not pass counts as an attempt', async () => {
  const { service, applicant } = fixture;
  service.applications.onAnswer = () => {
    service.applications.failure = internal(new Error('a damaged record'));
  };
  const { id } = await request(service, applicant);
  await expect.poll(async () => (await stateOf(id)).attempts).toBeGreaterThan(1);
  expect(inquiries()).toEqual([]);
});

const NO_SPACE = "BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END";

test.each([
  {
    what: 'read the credentials',
    refuse: `ALTER TABLE bureau_credentials RENAME TO kept_credentials;
      CREATE FUNCTION no_space() RETURNS SETOF kept_credentials LANGUAGE plpgsql AS $$ ${NO_SPACE} $$;
      CREATE VIEW bureau_credentials AS SELECT * FROM no_space()`,
    allow:
      'DROP FUNCTION no_space CASCADE; ALTER TABLE kept_credentials RENAME TO bureau_credentials',
  },
  {
    what: 'record the sending',
    refuse: `CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$ ${NO_SPACE} $$;
      CREATE TRIGGER no_space BEFORE UPDATE ON pulls
        FOR EACH ROW WHEN (NEW.sent_at IS NOT NULL) EXECUTE FUNCTION no_space()`,
    allow: 'DROP FUNCTION no_space CASCADE',
  },
])('while the database cannot $what nothing is sent, and no attempt is counted', async (it) => {
  const { service, applicant } = fixture;
  service.bureau.answer = async () => {
    await service.sql.query(it.refuse);
    return neverSent();
  };
  const { id } = await request(service, applicant);
  // More often than a pull is attempted.
  await expect.poll(async () => (await stateOf(id)).fence).toBeGreaterThan(7);
  expect(await stateOf(id)).toMatchObject({ attempts: 1, sent_at: null, finished_at: null });
  answerWith();
  await service.sql.query(it.allow);
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(2);
});

test.each([
  { what: 'were damaged', sealed: Buffer.of(0), failure: 'CREDENTIALS' },
  { what: 'are of another version', sealed: sealedOtherwise, failure: 'UNAVAILABLE' },
] as const)('with credentials that $what nothing is sent, and the pull has failed', async (it) => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  const sealed = typeof it.sealed === 'function' ? it.sealed(retailerId) : it.sealed;
  const damage = 'UPDATE bureau_credentials SET sealed = $2 WHERE retailer_id = $1';
  await service.sql.query(damage, [retailerId, sealed]);
  await request(service, applicant);
  const { pull, state } = await readEnded(service, applicant);
  expect([state, pull?.failure]).toEqual(['FAILED', FailureReason[it.failure]]);
  expect(inquiries()).toEqual([]);
});

test('while the key ring lacks the key of the credentials nothing is sent, and no attempt is counted', async () => {
  const { service, applicant } = fixture;
  const { retailerId } = applicant;
  const { rows } = await service.sql.query(
    'SELECT sealed FROM bureau_credentials WHERE retailer_id = $1',
    [retailerId],
  );
  const otherRing = KeyRing.parse(`k9:${Buffer.alloc(32).toString('base64')}`);
  const unknown = seal(otherRing, Buffer.of(0), sealedCredentials.context('EQUIFAX', retailerId));
  const replace = 'UPDATE bureau_credentials SET sealed = $2 WHERE retailer_id = $1';
  await service.sql.query(replace, [retailerId, unknown]);
  const { id } = await request(service, applicant);
  const isGivenBack = async () => {
    const { state, fence } = await stateOf(id);
    return state === 'REQUESTED' && fence > 0;
  };
  await expect.poll(isGivenBack).toBe(true);
  expect(await stateOf(id)).toMatchObject({ attempts: 0, sent_at: null });
  expect(inquiries()).toEqual([]);
  await service.sql.query(replace, [retailerId, rows[0].sealed]);
  await expect.poll(async () => (await stateOf(id)).state).toBe('COMPLETE');
});

test.each([
  { outcome: neverSent('address_denied'), failure: 'CREDENTIALS', wasSent: false },
  { outcome: neverSent('request_invalid'), failure: 'REJECTED', wasSent: false },
  {
    outcome: answered({ kind: 'refused', reason: 'credentials', code: 'E0819' }),
    failure: 'CREDENTIALS',
    bureauCode: 'E0819',
    wasSent: true,
  },
  {
    outcome: answered({ kind: 'refused', reason: 'rejected', code: 'EV304' }),
    failure: 'REJECTED',
    bureauCode: 'EV304',
    wasSent: true,
  },
  {
    outcome: answered({ kind: 'refused', reason: 'unavailable', code: 'E9' }),
    failure: 'UNAVAILABLE',
    bureauCode: 'E9',
    wasSent: true,
  },
  {
    // May repeat the inquiry.
    outcome: answered({ kind: 'refused', reason: 'rejected', code: 'AB 12' }),
    failure: 'REJECTED',
    wasSent: true,
  },
  {
    outcome: answered({ kind: 'malformed', problem: 'no XML' }),
    failure: 'MALFORMED_ANSWER',
    wasSent: true,
  },
  {
    outcome: answered({ kind: 'foreign' }),
    failure: 'ANSWER_FOR_ANOTHER_SUBJECT',
    wasSent: true,
  },
] as const)(
  'an inquiry that ends with $outcome is sent once, and the pull has failed',
  async (it) => {
    const { service, applicant } = fixture;
    answerWith(it.outcome);
    const { id } = await request(service, applicant, { source: Source.TRANSUNION });
    const { pull, state } = await readEnded(service, applicant);
    expect([state, pull?.failure]).toEqual(['FAILED', FailureReason[it.failure]]);
    expect(pull?.bureauCode).toBe('bureauCode' in it ? it.bureauCode : '');
    expect(inquiries()).toHaveLength(1);
    expect((await stateOf(id)).sent_at !== null).toBe(it.wasSent);
    const notSent = `SELECT FROM audit_records WHERE pull_id = $1 AND action = 'PULL_NOT_SENT'`;
    expect((await service.sql.query(notSent, [id])).rowCount).toBe(it.wasSent ? 0 : 1);
  },
);

test('a file of another person is not stored, and the log names the pull and the bureau alone', async () => {
  const { service, applicant } = fixture;
  answerWith(answered({ kind: 'foreign' }));
  const { id } = await request(service, applicant);
  await readEnded(service, applicant);
  const files = 'SELECT FROM credit_files WHERE pull_id = $1';
  expect((await service.sql.query(files, [id])).rowCount).toBe(0);
  const line = service.log.find((it) => it.includes(id) && it.includes('about another person'));
  const { level, pullId, source, ...others } = JSON.parse(line ?? '{}');
  expect({ level, pullId, source }).toEqual({ level: 'error', pullId: id, source: 'EQUIFAX' });
  expect(Object.keys(others).sort()).toEqual(['msg', 'service', 'time']);
  // Neither the failed pull nor its lack of a file is an answer to a later request.
  answerWith();
  expect((await request(service, applicant)).id).not.toBe(id);
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
});

test.each([
  [{ kind: 'FULL' }, { matched: 'FULL' }],
  [
    { kind: 'PARTIAL', differences: ['LAST_NAME'] },
    { matched: 'PARTIAL', differences: ['LAST_NAME'] },
  ],
] as const)('a file that matches %o says %o', async (match, fields) => {
  const { service, applicant } = fixture;
  const file = { hitType: 'HIT', id: 'U-1' } as const;
  answerWith(answered({ kind: 'file', file, unknownCodes: [], match }));
  await request(service, applicant);
  expect((await readEnded(service, applicant)).file).toMatchObject({ ...file, ...fields });
});

test('the log says why the answer of a bureau is malformed', async () => {
  const { service, applicant } = fixture;
  answerWith(answered({ kind: 'malformed', problem: 'The answer has a document type.' }));
  const { id } = await request(service, applicant);
  await readEnded(service, applicant);
  const line = service.log.find((it) => it.includes(id) && it.includes('is malformed'));
  expect(JSON.parse(line ?? '{}').problem).toBe('The answer has a document type.');
});

test('a file that is too large to be read fails its pull, and the largest other one is read', async () => {
  const { service, applicant } = fixture;
  const other = await addApplicant(service);
  const fileOf = (bytes: number) => fileAnswer({ trades: [{ accountNumber: 'x'.repeat(bytes) }] });
  const limit = 3 * 1_024 * 1_024;
  answerWith(fileOf(limit));
  await request(service, applicant);
  const { pull, state } = await readEnded(service, applicant);
  expect([state, pull?.failure]).toEqual(['FAILED', FailureReason.MALFORMED_ANSWER]);
  answerWith(fileOf(limit - 1_000));
  await request(service, other);
  const { file } = await readEnded(service, other);
  expect(file?.trades?.[0]?.accountNumber).toHaveLength(limit - 1_000);
});

test.each([
  ['token_refused', 'CREDENTIALS'],
  ['address_denied', 'CREDENTIALS'],
  ['not_configured', 'UNAVAILABLE'],
] as const)(
  'an inquiry that is refused for %s before it is prepared fails its pull, and no sending is recorded',
  async (reason, failure) => {
    const { service, applicant } = fixture;
    service.bureau.refusals = [reason];
    const { id } = await request(service, applicant);
    const { pull, state } = await readEnded(service, applicant);
    expect([state, pull?.failure]).toEqual(['FAILED', FailureReason[failure]]);
    expect(inquiries()).toEqual([]);
    const sending = "SELECT FROM audit_records WHERE pull_id = $1 AND action LIKE 'PULL%SENT'";
    expect((await service.sql.query(sending, [id])).rowCount).toBe(0);
  },
);
