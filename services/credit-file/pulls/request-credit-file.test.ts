import { randomUUID } from 'node:crypto';
import { FailureReason, Source } from '@creditlane/proto/creditfile/v1/credit_file_service';
import { unavailable } from '@creditlane/rpc/fault';
import { describe, expect, test } from 'vitest';
import type { TestSubject } from '../test-applications.ts';
import {
  addApplicant,
  asPlatform,
  read,
  readEnded,
  request,
  setCredentials,
  useApplicant,
} from '../test-credit-file.ts';

const fixture = useApplicant();
const DAY_MS = 24 * 60 * 60 * 1_000;

function subject(): TestSubject {
  const { applicationId, applicantId } = fixture.applicant;
  const found = fixture.service.applications.subjects.get(`${applicationId} ${applicantId}`);
  if (found === undefined) throw new Error('the applicant is missing');
  return found;
}

const inquiries = () => fixture.service.bureau.inquiries;

test('a request sends one inquiry with the subject and the credentials, and the file can be read', async () => {
  const { service, applicant } = fixture;
  const pull = await request(service, applicant);
  expect(pull).toMatchObject({ source: Source.EQUIFAX });
  const { state, file } = await readEnded(service, applicant);
  expect(state).toBe('COMPLETE');
  expect(file).toMatchObject({ id: 'U-4711', hitType: 'HIT', source: 'EQUIFAX' });
  expect(inquiries()).toMatchObject([
    {
      inquiry: {
        reference: pull.id,
        subject: {
          firstName: 'Amélie',
          lastName: 'Tremblay',
          sin: '046454286',
          dateOfBirth: '1987-04-12',
          occupation: 'WELDER',
          addresses: [
            { streetNo: '12', streetName: 'Birch ST NW', city: 'Ottawa', postalCode: 'K1A0B1' },
            { streetNo: '9', streetName: 'Old', city: 'Laval', postalCode: 'H7A1A1' },
          ],
        },
      },
      credentials: { source: 'EQUIFAX', value: { customerCode: 'A123' } },
    },
  ]);
});

test('an applicant of whom a bureau cannot be asked is refused with each field, and recorded', async () => {
  const { service, applicant } = fixture;
  Object.assign(subject().applicant ?? {}, { dateOfBirth: '2020-01-01', addressHistory: [] });
  await expect(request(service, applicant)).rejects.toMatchObject({
    kind: 'invalid',
    code: 'applicant_incomplete',
    fields: [{ pointer: '/addressHistory' }],
  });
  expect(inquiries()).toEqual([]);
  const { rows } = await service.sql.query(
    "SELECT outcome FROM audit_records WHERE applicant_id = $1 AND action = 'PULL_REFUSED'",
    [applicant.applicantId],
  );
  expect(rows).toEqual([{ outcome: 'applicant_incomplete' }]);
});

test('an applicant who was changed after the request is not asked about, and the pull has failed', async () => {
  const { service, applicant } = fixture;
  service.applications.onAnswer = () => {
    const { applicationId, applicantId } = applicant;
    const changed = { ...subject().applicant, dateOfBirth: '2020-01-01' };
    service.applications.subjects.set(`${applicationId} ${applicantId}`, {
      ...subject(),
      applicant: changed,
    } as TestSubject);
  };
  await request(service, applicant);
  const { pull, state } = await readEnded(service, applicant);
  expect([state, pull?.failure]).toEqual(['FAILED', FailureReason.REJECTED]);
  expect(inquiries()).toEqual([]);
});

test('a refusal that the audit log cannot take is logged with its code, and the request fails', async () => {
  const { service, applicant } = fixture;
  await request(service, applicant);
  await readEnded(service, applicant);
  delete subject().consent;
  const { retailerId } = applicant;
  const damage = `UPDATE audit_heads SET sealed = '\\x00' WHERE retailer_id = $1`;
  await service.sql.query(damage, [retailerId]);
  const failed = request(service, applicant);
  await expect(failed).rejects.toMatchObject({ code: 'internal_error' });
  const lines = service.log.map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: 'warn',
      refusal: 'consent_missing',
      msg: 'a refused request for a credit file is missing from the audit log',
    }),
  );
});

describe('a request is refused', () => {
  test('for an applicant of another retailer as for none, and without a retailer', async () => {
    const { service, applicant } = fixture;
    const refusal = { kind: 'not_found', code: 'applicant_not_found' };
    const foreign = { ...applicant, retailerId: randomUUID() };
    const missing = { ...applicant, applicantId: randomUUID() };
    await expect(request(service, foreign)).rejects.toMatchObject(refusal);
    await expect(request(service, missing)).rejects.toMatchObject(refusal);
    const withoutRetailer = { ...applicant, retailerId: undefined as never };
    await expect(request(service, withoutRetailer)).rejects.toMatchObject(refusal);
    expect(inquiries()).toEqual([]);
  });

  test('without a consent, and for an archived application', async () => {
    const { service, applicant } = fixture;
    const archived = { ...subject(), applicationStatus: 'ARCHIVED' };
    delete subject().consent;
    const key = `${applicant.applicationId} ${applicant.applicantId}`;
    const refused = { kind: 'invalid', code: 'consent_missing' };
    await expect(request(service, applicant)).rejects.toMatchObject(refused);
    service.applications.subjects.set(key, archived);
    const refusal = { kind: 'conflict', code: 'application_archived' };
    await expect(request(service, applicant)).rejects.toMatchObject(refusal);
    const { rows } = await service.sql.query(
      'SELECT action, outcome, purpose FROM audit_records WHERE applicant_id = $1 ORDER BY seq',
      [applicant.applicantId],
    );
    expect(rows).toEqual([
      { action: 'PULL_REFUSED', outcome: 'consent_missing', purpose: 'CREDIT_APPLICATION' },
      { action: 'PULL_REFUSED', outcome: 'application_archived', purpose: 'CREDIT_APPLICATION' },
    ]);
  });

  test.each(['firstName', 'lastName'] as const)(
    'for an applicant without %s, and the bureau is asked nothing',
    async (name) => {
      Object.assign(subject().applicant ?? {}, { [name]: '' });
      await expect(request(fixture.service, fixture.applicant)).rejects.toMatchObject({
        ...{ kind: 'invalid', code: 'applicant_incomplete' },
        fields: [{ pointer: `/${name}` }],
      });
      expect(inquiries()).toEqual([]);
    },
  );

  test('with a request id that PostgreSQL cannot store', async () => {
    const refused = {
      kind: 'invalid',
      code: 'invalid_request',
      fields: [{ pointer: '/requestId' }],
    };
    const options = { requestId: 'a\0b' };
    const call = request(fixture.service, fixture.applicant, options);
    await expect(call).rejects.toMatchObject(refused);
  });

  test('without credentials with the bureau', async () => {
    const { service, applicant } = fixture;
    const { retailerId } = applicant;
    const message = { retailerId, source: Source.EQUIFAX };
    await service.credentials.removeBureauCredentials(message, asPlatform());
    const refused = { kind: 'conflict', code: 'bureau_credentials_missing' };
    await expect(request(service, applicant)).rejects.toMatchObject(refused);
    await request(service, applicant, { source: Source.TRANSUNION });
    // Its inquiry is not counted in the next test.
    await readEnded(service, applicant);
  });

  test('from a bureau that the platform cannot ask, like credentials with it', async () => {
    const { service, applicant } = fixture;
    const without = await service.startReplica({ BUREAUS: 'EQUIFAX' });
    const refused = { kind: 'invalid', code: 'bureau_not_configured' };
    const options = { source: Source.TRANSUNION };
    await expect(request(without, applicant, options)).rejects.toMatchObject(refused);
    const call = setCredentials(without, applicant.retailerId);
    await expect(call).rejects.toMatchObject(refused);
    await without.stop();
  });

  test('while the applications service is away', async () => {
    const { service, applicant } = fixture;
    service.applications.failure = unavailable('away');
    await expect(request(service, applicant)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});

describe('a request gets an earlier pull', () => {
  test('with the same request id, also when forced, for the other source and without a consent', async () => {
    const { service, applicant } = fixture;
    const first = await request(service, applicant, { requestId: 'r-1' });
    await readEnded(service, applicant);
    delete subject().consent;
    const options = { requestId: 'r-1', force: true, source: Source.TRANSUNION };
    expect((await request(service, applicant, options)).id).toBe(first.id);
    expect(inquiries()).toHaveLength(1);
  });

  test('with a request id that has joined the pull, although its outcome is unknown now', async () => {
    const { service, applicant } = fixture;
    service.bureau.answer = async () => ({ kind: 'unknown', reason: 'deadline' });
    const release = service.bureau.hold();
    const first = await request(service, applicant, { requestId: 'r-1' });
    expect((await request(service, applicant, { requestId: 'r-2' })).id).toBe(first.id);
    release();
    expect((await readEnded(service, applicant)).state).toBe('UNKNOWN');
    expect((await request(service, applicant, { requestId: 'r-2', force: true })).id).toBe(
      first.id,
    );
    expect(inquiries()).toHaveLength(1);
  });

  test('while a pull of the same source is running, and none of the other source', async () => {
    const { service, applicant } = fixture;
    const release = service.bureau.hold();
    const first = await request(service, applicant);
    expect((await request(service, applicant, { force: true })).id).toBe(first.id);
    const other = await request(service, applicant, { source: Source.TRANSUNION });
    expect(other.id).not.toBe(first.id);
    release();
    await readEnded(service, applicant);
  });

  test('for thirty days after a complete pull, unless it is forced', async () => {
    const { service, applicant } = fixture;
    const first = await request(service, applicant);
    await readEnded(service, applicant);
    service.now.offsetMs = 30 * DAY_MS - 60_000;
    expect((await request(service, applicant)).id).toBe(first.id);
    const forced = await request(service, applicant, { force: true });
    expect(forced.id).not.toBe(first.id);
    await readEnded(service, applicant);
    service.now.offsetMs = 31 * DAY_MS;
    const later = await request(service, applicant);
    expect([first.id, forced.id]).not.toContain(later.id);
    await readEnded(service, applicant);
    expect(inquiries()).toHaveLength(3);
  });

  test('with the same idempotency key, and a new one with another key', async () => {
    const { service, applicant } = fixture;
    const options = { subject: randomUUID(), force: true };
    const keyed = (idempotencyKey: string) =>
      request(service, applicant, { ...options, idempotencyKey });
    const first = await keyed('k');
    await readEnded(service, applicant);
    expect((await keyed('k')).id).toBe(first.id);
    expect((await keyed('k2')).id).not.toBe(first.id);
    const other = request(service, applicant, {
      ...options,
      idempotencyKey: 'k',
      source: Source.TRANSUNION,
    });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    await readEnded(service, applicant);
  });
});

test.each([
  { what: 'without ids', options: () => ({}) },
  { what: 'with request ids of their own', options: () => ({ requestId: randomUUID() }) },
  { what: 'with one request id', options: () => ({ requestId: 'same', force: true }) },
  {
    what: 'with one idempotency key',
    options: () => ({ subject: 'caller', idempotencyKey: 'same', force: true }),
  },
])('twenty requests at once $what get one pull and send one inquiry', async ({ options }) => {
  const { service, applicant } = fixture;
  const release = service.bureau.hold();
  const pulls = await Promise.all(
    Array.from({ length: 20 }, () => request(service, applicant, options())),
  );
  release();
  expect(new Set(pulls.map(({ id }) => id)).size).toBe(1);
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(1);
});

test('after an unknown outcome nothing is sent until a request asks for it once more', async () => {
  const { service, applicant } = fixture;
  const { answer } = service.bureau;
  service.bureau.answer = async () => ({ kind: 'unknown', reason: 'deadline' });
  const lost = await request(service, applicant, { requestId: 'r-1' });
  expect((await readEnded(service, applicant)).state).toBe('UNKNOWN');
  service.bureau.answer = answer;
  expect((await request(service, applicant, { requestId: 'r-1' })).id).toBe(lost.id);
  expect(inquiries()).toHaveLength(1);
  const next = await request(service, applicant);
  expect(next.id).not.toBe(lost.id);
  expect((await readEnded(service, applicant)).state).toBe('COMPLETE');
  expect(inquiries()).toHaveLength(2);
});

test.each([
  ['is revoked', () => delete subject().consent],
  [
    'is for an application that is archived',
    () => Object.assign(subject(), { applicationStatus: 'ARCHIVED' }),
  ],
])('a consent that %s while the inquiry waits for the bureau stops it', async (_, withdraw) => {
  const { service, applicant } = fixture;
  const { promise, resolve: free } = Promise.withResolvers<void>();
  service.bureau.ready = promise;
  const { id } = await request(service, applicant);
  await expect.poll(() => service.bureau.waiting).toBe(1);
  const select = 'SELECT state, sent_at FROM pulls WHERE id = $1';
  const { rows } = await service.sql.query(select, [id]);
  expect(rows).toEqual([{ state: 'RUNNING', sent_at: null }]);
  withdraw();
  free();
  const { pull, state } = await readEnded(service, applicant);
  expect([state, pull?.failure]).toEqual(['FAILED', FailureReason.CONSENT]);
  expect(inquiries()).toEqual([]);
});

test('pulls of two applicants of a retailer do not meet', async () => {
  const { service, applicant } = fixture;
  const other = await addApplicant(service, applicant.retailerId);
  const pulls = [await request(service, applicant), await request(service, other)];
  expect(pulls[0]?.id).not.toBe(pulls[1]?.id);
  await readEnded(service, other);
  await expect(
    read(service, { ...other, applicationId: applicant.applicationId }),
  ).rejects.toMatchObject({ code: 'applicant_not_found' });
});
