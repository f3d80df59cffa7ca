import { randomUUID } from 'node:crypto';
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Application } from '@creditlane/proto/applications/v1/application';
import type { RecordConsentRequestSchema } from '@creditlane/proto/applications/v1/consents_service';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { lockApplication } from '../store/applications.ts';
import {
  anApplicant,
  aSubmission,
  asCreditFile,
  asGateway,
  asIntegration,
  asPlatform,
  aUser,
  countWaiting,
  createTestApplication,
  registerTenant,
  useTenant,
} from '../test-applications.ts';

const fixture = useTenant();
let application: Application;
let applicantId: string;
beforeEach(async () => {
  const { applications, tenant } = fixture;
  application = await createTestApplication(applications, tenant.retailerId, {
    coApplicant: anApplicant(),
  });
  applicantId = application.primaryApplicant?.applicantId ?? '';
});

type Schema = typeof RecordConsentRequestSchema;
type RecordInit = Exclude<MessageInitShape<Schema>, MessageShape<Schema>>;

const calls = () => fixture.applications.service.consents;
const key = () => ({ applicationId: application.applicationId, applicantId });
const asRetailer = (idempotencyKey?: string) =>
  asIntegration(fixture.tenant.retailerId, idempotencyKey);

async function record(change: RecordInit = {}, as = asRetailer()) {
  const { userId: capturedBy } = fixture.tenant;
  const request = { ...key(), purpose: 'CREDIT_APPLICATION', textVersion: 'v3', capturedBy };
  const { consent } = await calls().recordConsent({ ...request, ...change }, as);
  if (!consent) throw new Error('the answer holds no consent');
  return consent;
}

const revoke = async (consentId: string, revokedBy = '', as = asRetailer()) =>
  (await calls().revokeConsent({ ...key(), consentId, revokedBy }, as)).consent;

const list = (limit = 25, cursor = '', as = asRetailer()) =>
  calls().listConsents({ ...key(), limit, cursor }, as);

const listIds = async () => (await list()).consents.map(({ id }) => id);

const subject = (change: object = {}) =>
  fixture.applications.service.forCreditFile.getInquirySubject(
    { ...key(), purpose: 'CREDIT_APPLICATION', ...change },
    asCreditFile,
  );

const permitting = async () => (await subject()).consent?.id;

/** Submits the application, and gives the consent on which an inquiry is made then. */
async function submit(creditorId = fixture.tenant.creditorId): Promise<string> {
  await fixture.applications.service.applications.submitApplication(
    aSubmission(application, fixture.tenant, [creditorId]),
    asRetailer(),
  );
  return (await permitting()) ?? '';
}

const inDays = (days: number) => timestampFromDate(new Date(Date.now() + days * 86_400_000));

const archive = () =>
  fixture.applications.service.applications.archiveApplication(
    { applicationId: application.applicationId },
    asRetailer(),
  );

describe('a recorded consent', () => {
  test('is listed as it was answered, newest capture first, and permits an inquiry', async () => {
    const documentSha256 = 'ab'.repeat(32);
    const consent = await record({ documentSha256 });
    const { userId } = fixture.tenant;
    expect(consent).toMatchObject({
      applicantId,
      purpose: 'CREDIT_APPLICATION',
      textVersion: 'v3',
      documentSha256,
      capturedBy: userId,
      revokedBy: '',
    });
    expect(consent.revokedAt).toBeUndefined();
    expect(consent.recordedAt).toEqual(consent.capturedAt);
    const signedBefore = await record({ capturedAt: inDays(-30) });
    const { consents, nextCursor } = await list();
    expect(consents).toEqual([consent, signedBefore]);
    expect(nextCursor).toBe('');
    expect((await subject()).consent).toEqual(consent);
  });

  test('is taken by ids in upper case, and by a user of the retailer’s group', async () => {
    const userId = randomUUID();
    const user = { ...aUser(userId), retailerGroupIds: [fixture.tenant.retailerGroupId] };
    await fixture.applications.service.directory.registerUser({ user }, asPlatform);
    const upper = {
      applicationId: application.applicationId.toUpperCase(),
      applicantId: applicantId.toUpperCase(),
      capturedBy: userId.toUpperCase(),
    };
    expect(await record(upper)).toMatchObject({ applicantId, capturedBy: userId });
  });

  test('belongs to its applicant alone', async () => {
    const { id } = await record();
    applicantId = application.coApplicant?.applicantId ?? '';
    expect(await listIds()).toEqual([]);
    expect(await permitting()).toBeUndefined();
    await expect(revoke(id)).rejects.toMatchObject({ code: 'consent_not_found' });
  });

  test('that ends last is the one on which an inquiry is made', async () => {
    await record({ expiresAt: inDays(10) });
    const longest = await record({ expiresAt: inDays(500) });
    await record({ expiresAt: inDays(20) });
    expect(await permitting()).toBe(longest.id);
  });

  test('that is asked for is named as long as it permits an inquiry, and then the one that ends last', async () => {
    const asked = await record({ expiresAt: inDays(10) });
    const consentId = asked.id;
    const longest = await record({ expiresAt: inDays(500) });
    const named = async () => (await subject({ consentId })).consent?.id;
    expect(await named()).toBe(consentId);
    await fixture.applications.sql.query('UPDATE consents SET revoked_at = now() WHERE id = $1', [
      consentId,
    ]);
    expect(await named()).toBe(longest.id);
  });

  test('that waits while the applicant is erased is refused', async () => {
    const { applications, tenant } = fixture;
    const { sql } = applications;
    await sql.query('BEGIN');
    await lockApplication(sql, application.applicationId, tenant.retailerId);
    const recorded = record().then(String, ({ code }) => code);
    const lock = 'SELECT applications.status';
    await expect.poll(() => countWaiting(applications, lock)).toBe(1);
    await sql.query('UPDATE applicants SET erased_at = now() WHERE id = $1', [applicantId]);
    await sql.query('COMMIT');
    expect(await recorded).toBe('applicant_erased');
    expect(await listIds()).toEqual([]);
  });

  test('of an archived application is refused, and one that is there can be revoked', async () => {
    const { id } = await record();
    await archive();
    await expect(record()).rejects.toMatchObject({
      kind: 'conflict',
      code: 'application_archived',
    });
    expect((await revoke(id))?.revokedAt).toBeDefined();
  });

  test.each<[string, RecordInit, object]>([
    ['in the future', { capturedAt: inDays(1) }, { code: 'invalid_consent' }],
    ['that ended', { expiresAt: inDays(-1) }, { code: 'invalid_consent' }],
    ['by an unknown user', { capturedBy: randomUUID() }, { code: 'ineligible_user' }],
    ['for another purpose', { purpose: 'MARKETING' }, { kind: 'invalid' }],
    ['with half of a hash', { documentSha256: 'ab' }, { kind: 'invalid' }],
    ['without a text version', { textVersion: '' }, { kind: 'invalid' }],
  ])('%s is refused, and nothing is recorded', async (_, change, fault) => {
    await expect(record(change)).rejects.toMatchObject(fault);
    expect(await listIds()).toEqual([]);
  });
});

describe('a consent permits no inquiry', () => {
  test('once it was revoked, and keeps its first revocation', async () => {
    const { id } = await record();
    const revoked = await revoke(id, fixture.tenant.userId);
    expect(revoked).toMatchObject({ id, revokedBy: fixture.tenant.userId });
    expect(await permitting()).toBeUndefined();
    expect(await revoke(id)).toEqual(revoked);
    expect((await list()).consents).toEqual([revoked]);
    const { rows } = await fixture.applications.sql.query(
      'SELECT revoked_by_integration_id AS id FROM consents WHERE id = $1',
      [id],
    );
    expect(rows).toEqual([{ id: asRetailer().identity.subject }]);
  });

  test('once it has ended; an earlier one that still holds does', async () => {
    const earlier = await record({ expiresAt: inDays(1) });
    const ended = await record({ expiresAt: inDays(2) });
    await fixture.applications.sql.query('UPDATE consents SET expires_at = now() WHERE id = $1', [
      ended.id,
    ]);
    expect(await permitting()).toBe(earlier.id);
    await revoke(earlier.id);
    expect(await permitting()).toBeUndefined();
  });

  test('once any other of the applicant is revoked, until one that was captured later is there', async () => {
    const submitted = await submit();
    const recorded = await record({ capturedAt: inDays(-2) });
    const revoked = await revoke(recorded.id, fixture.tenant.userId);
    expect(await permitting()).toBeUndefined();
    const { revokedAt, revokedBy } = revoked ?? {};
    const withIt = (await list()).consents.find(({ id }) => id === submitted);
    expect(withIt).toMatchObject({ revokedAt, revokedBy });
    await expect(record({ capturedAt: inDays(-1) })).rejects.toMatchObject({
      code: 'invalid_consent',
      fields: [{ pointer: '/capturedAt' }],
    });
    const later = await record();
    expect(await revoke(submitted)).toEqual(withIt);
    expect(await permitting()).toBe(later.id);
  });

  test('once another was revoked, and the next submission records one that does', async () => {
    const first = await submit();
    await revoke((await record()).id);
    const { creditorId } = await registerTenant(fixture.applications);
    const second = await submit(creditorId);
    expect(second).not.toBe(first);
    expect(await permitting()).toBe(second);
  });

  test('once a replica whose clock is ahead revoked it, and the next submission records one that does', async () => {
    const { id } = await record();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30_000 });
    await revoke(id).finally(() => vi.useRealTimers());
    expect(await permitting()).toBeUndefined();
    expect(await submit()).not.toBe('');
  });

  test('once it was revoked, although a submission that began before is made afterwards', async () => {
    const { id } = await record();
    const { applications, tenant } = fixture;
    const { sql } = applications;
    await sql.query('BEGIN');
    await lockApplication(sql, application.applicationId, tenant.retailerId);
    const submitted = submit();
    const lock = 'SELECT status FROM applications';
    await expect.poll(() => countWaiting(applications, lock)).toBe(1);
    await sql.query('UPDATE consents SET revoked_at = clock_timestamp() WHERE id = $1', [id]);
    await sql.query('COMMIT');
    expect(await submitted).toBe('');
  });

  test('only of the applicant whose consent is revoked', async () => {
    const [mine, ofPrimary] = [applicantId, await record()];
    applicantId = application.coApplicant?.applicantId ?? '';
    const { id } = await record();
    await revoke(id);
    applicantId = mine;
    expect(await permitting()).toBe(ofPrimary.id);
  });

  test('a consent is revoked by nobody who may not act for the retailer', async () => {
    const { id } = await record();
    const stranger = (await registerTenant(fixture.applications)).userId;
    for (const userId of [stranger, randomUUID()]) {
      await expect(revoke(id, userId)).rejects.toMatchObject({
        code: 'ineligible_user',
        fields: [{ pointer: '/revokedBy' }],
      });
    }
    expect(await permitting()).toBe(id);
  });
});

describe('the subject of an inquiry', () => {
  test('is the applicant with the whole social insurance number', async () => {
    const { retailerId } = fixture.tenant;
    expect(await subject()).toMatchObject({
      retailerId,
      applicationStatus: 'SAVED',
      applicant: { applicantId, lastName: 'Tremblay', sin: '046454286', dateOfBirth: '1988-07-14' },
    });
    await archive();
    expect((await subject()).applicationStatus).toBe('ARCHIVED');
  });

  test('is empty for an applicant of another application, or none', async () => {
    for (const change of [{ applicantId: randomUUID() }, { applicationId: randomUUID() }]) {
      const answer = await subject(change);
      expect(answer).toMatchObject({ retailerId: '', applicationStatus: '' });
      expect(answer.applicant).toBeUndefined();
    }
  });

  test('is answered to the credit-file service alone', async () => {
    const request = { ...key(), purpose: 'CREDIT_APPLICATION' };
    for (const caller of [asGateway, asRetailer(), asPlatform]) {
      await expect(calls().getInquirySubject(request, caller)).rejects.toMatchObject({
        kind: 'forbidden',
      });
    }
  });

  test('has the consent that a submission recorded, a year long', async () => {
    await submit();
    const { consent } = await subject();
    const { userId } = fixture.tenant;
    expect(consent).toMatchObject({ textVersion: 'unspecified', capturedBy: userId });
    const [from, to] = [consent?.capturedAt, consent?.expiresAt].map(
      (time) => time && timestampDate(time),
    );
    from?.setUTCFullYear(from.getUTCFullYear() + 1);
    expect(to).toEqual(from);
  });
});

test('another tenant’s applicant is refused like one that does not exist', async () => {
  const { id } = await record();
  const other = asIntegration((await registerTenant(fixture.applications)).retailerId);
  const outcomes = async () =>
    Promise.all(
      [() => record({}, other), () => list(25, '', other), () => revoke(id, '', other)].map(
        (call) => call().then(String, ({ kind, code, message }) => ({ kind, code, message })),
      ),
    );
  const foreign = await outcomes();
  expect(foreign[0]).toMatchObject({ kind: 'not_found', code: 'applicant_not_found' });
  expect(new Set(foreign.map((it) => JSON.stringify(it))).size).toBe(1);
  applicantId = randomUUID();
  expect(await outcomes()).toEqual(foreign);
});

test('the list in pages has each consent once, and takes no cursor of another list', async () => {
  const capturedAt = inDays(-3);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.push((await record({ capturedAt })).id);
  const walked: string[] = [];
  let cursor = '';
  do {
    const page = await list(2, cursor);
    walked.push(...page.consents.map(({ id }) => id));
    cursor = page.nextCursor || '';
  } while (cursor !== '');
  expect(walked).toEqual(ids.toSorted().toReversed());
  const { nextCursor } = await list(2);
  applicantId = application.coApplicant?.applicantId ?? '';
  await expect(list(2, nextCursor)).rejects.toMatchObject({ code: 'invalid_cursor' });
});

describe('with an idempotency key', () => {
  test('several requests at once record one consent and get one answer', async () => {
    const as = asRetailer(randomUUID());
    const answers = await Promise.all(Array.from({ length: 5 }, () => record({}, as)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await listIds()).toHaveLength(1);
    await expect(record({ textVersion: 'v4' }, as)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await archive();
    expect(await record({}, as)).toEqual(answers[0]);
  });

  test('a repeated revocation gets its first answer', async () => {
    const { id } = await record();
    const as = asRetailer(randomUUID());
    const [first, second] = await Promise.all([revoke(id, '', as), revoke(id, '', as)]);
    expect(second).toEqual(first);
    expect(await revoke(id, '', as)).toEqual(first);
  });

  test('a repetition without a grant on the retailer is refused like an unknown applicant', async () => {
    const idempotencyKey = randomUUID();
    const { id } = await record({}, asRetailer(idempotencyKey));
    await revoke(id, '', asRetailer(idempotencyKey));
    const ungranted = asIntegration(randomUUID(), idempotencyKey);
    for (const call of [() => record({}, ungranted), () => revoke(id, '', ungranted)]) {
      await expect(call()).rejects.toMatchObject({
        kind: 'not_found',
        code: 'applicant_not_found',
      });
    }
  });
});

test('of several revocations at once, each answers with the first', async () => {
  const { id } = await record();
  const users = [fixture.tenant.userId, '', fixture.tenant.userId, ''];
  const answers = await Promise.all(users.map((userId) => revoke(id, userId)));
  for (const answer of answers) expect(answer).toEqual(answers[0]);
});
