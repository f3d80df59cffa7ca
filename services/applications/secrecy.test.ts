import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { findLiveKeyId, makeKey } from '@creditlane/crypto/applicant-keys';
import { readKeyId, SealError, UnknownKeyError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { readStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { CreateApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { convertSealedRows } from './applicant/convert-sealed-rows.ts';
import { openApplicant, type StoredApplicant, sealInRow } from './applicant/sealed-applicant.ts';
import { findDataKeys } from './store/applicant-data-keys.ts';
import {
  anApplicant,
  anApplication,
  aSubmission,
  asCreditFile,
  asDispatcher,
  asIntegration,
  createSubmission,
  createTestApplication,
  eraseApplicant,
  KEYS,
  registerTenant,
  SIN,
  startTestApplications,
  type Tenant,
  type TestApplications,
} from './test-applications.ts';

let fixture: TestApplications;
let tenant: Tenant;
beforeAll(async () => {
  fixture = await startTestApplications();
  tenant = await registerTenant(fixture);
});
afterAll(() => fixture?.close());

/** Every row of every table as text; bytes in hex and also escaped. */
async function dump(): Promise<string> {
  const { rows: tables } = await fixture.sql.query(
    `SELECT table_name, string_agg(format(
         CASE udt_name WHEN 'bytea' THEN '%1$I::text, encode(%1$I, ''escape'')' ELSE '%I::text' END,
         column_name), ', ') AS columns
     FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name`,
  );
  let text = '';
  for (const { table_name, columns } of tables) {
    const { rows } = await fixture.sql.query({
      text: `SELECT ${columns} FROM ${table_name}`,
      rowMode: 'array',
    });
    text += JSON.stringify(rows);
  }
  return text;
}

/** The encodings in which a text could be found: plain, hex, UTF-16, and base64 at each offset. */
function encodingsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // Without the base64 digits that also encode the bytes before or after the text.
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    return encoded.slice(Math.ceil((offset * 8) / 6), end);
  });
  return [text, bytes.toString('hex'), Buffer.from(text, 'utf16le').toString('hex'), ...base64];
}

test('no data of an applicant is readable in the database, the events or the log', async () => {
  const { retailerId, creditorId } = tenant;
  const request = { ...anApplication(retailerId), coApplicant: anApplicant() };
  const { application } = await fixture.service.applications.createApplication(
    request,
    asIntegration(retailerId, randomUUID()),
  );
  if (!application) throw new Error('no application');
  await fixture.service.applications.submitApplication(
    aSubmission(application, tenant, [creditorId]),
    asIntegration(retailerId, randomUUID()),
  );
  const { applicationId } = application;
  const exported = await fixture.service.applications.exportApplication(
    { applicationId, creditorId, integrationId: randomUUID() },
    asIntegration(retailerId, randomUUID()),
  );
  const { exportId } = exported;
  await fixture.service.forDispatcher.getExport({ exportId }, asDispatcher);
  await fixture.service.settled();
  const refused = { ...anApplicant(), sin: '046-454-287', dateOfBirth: '1988-02-30' };
  await createTestApplication(fixture, retailerId, { primaryApplicant: refused }).catch(() => {});

  const text =
    (await dump()) + fixture.log.join('\n') + JSON.stringify(fixture.service.events, bigint);
  // The search finds data that is stored in the clear.
  for (const clear of [
    exported.exportId,
    application.applicationId,
    '1HGBH41JXMN109186',
    'Harbour Motors',
  ]) {
    expect(text).toContain(clear);
  }
  const { lastName, email, dateOfBirth } = anApplicant();
  const secrets = [
    SIN,
    SIN.replaceAll('-', ''),
    SIN.replaceAll('-', ' '),
    refused.sin,
    '046454287',
  ];
  for (const secret of [...secrets, lastName, email, dateOfBirth, 'Sherbrooke']) {
    for (const encoded of encodingsOf(secret)) expect(text).not.toContain(encoded);
  }
});

test('an erasure leaves the id of the applicant, in the answers and in what is sealed', async () => {
  const { retailerId } = tenant;
  const key = randomUUID();
  const request = { ...anApplication(retailerId), coApplicant: anApplicant() };
  const create = () =>
    fixture.service.applications.createApplication(request, asIntegration(retailerId, key));
  const { application } = await create();
  const applicationId = application?.applicationId ?? '';
  const applicantId = application?.primaryApplicant?.applicantId ?? '';
  expect(await eraseApplicant(fixture, randomUUID(), applicantId)).toBe(false);
  expect(await eraseApplicant(fixture, retailerId, applicantId)).toBe(true);

  const find = 'SELECT sealed, erased_at FROM applicants WHERE id = $1';
  const { rows } = await fixture.sql.query(find, [applicantId]);
  expect(rows[0].sealed).toHaveLength(0);
  const left = await openStored(applicantId, retailerId);
  expect(left).toEqual({
    ...{ $typeName: 'creditlane.applications.v1.Applicant', applicantId },
    ...{ firstName: '', lastName: '', sin: '', dateOfBirth: '', phoneNumber: '', email: '' },
    ...{ addressHistory: [], employmentHistory: [] },
  });
  // A repetition changes nothing.
  expect(await eraseApplicant(fixture, retailerId, applicantId)).toBe(true);
  expect((await fixture.sql.query(find, [applicantId])).rows).toEqual(rows);

  const erasedAt = timestampFromDate(rows[0].erased_at);
  const read = await fixture.service.applications.getApplication(
    { applicationId },
    asIntegration(retailerId),
  );
  expect(read.application).toMatchObject({
    primaryApplicant: { ...left, erasedAt },
    coApplicant: { lastName: 'Tremblay', sin: '***-***-286' },
  });
  expect((await create()).application?.primaryApplicant).toEqual({ ...left, erasedAt });
});

/** What is stored of an applicant. */
async function findStored(applicantId: string): Promise<StoredApplicant> {
  const { rows } = await fixture.sql.query(
    `SELECT applicants.id, applicants.sealed, key_id AS "keyId", applicant_keys.sealed AS "sealedKey",
       erased_at AS "erasedAt"
     FROM applicants LEFT JOIN applicant_keys ON applicant_keys.id = key_id WHERE applicants.id = $1`,
    [applicantId],
  );
  return rows[0];
}

async function openStored(applicantId: string, retailerId: string) {
  return openApplicant(KeyRing.parse(KEYS), await findStored(applicantId), retailerId);
}

test('after an erasure no copy of the data opens with the key ring, and one that is restored counts as erased', async () => {
  const { retailerId, creditorId } = tenant;
  const application = await createSubmission(fixture, tenant, { coApplicant: anApplicant() });
  const { applicationId, primaryApplicant, coApplicant } = application;
  const applicantId = primaryApplicant?.applicantId ?? '';
  const target = { applicationId, creditorId, integrationId: randomUUID() };
  const as = asIntegration(retailerId);
  const { exportId } = await fixture.service.applications.exportApplication(target, as);
  const before = await findStored(applicantId);
  const exported = 'SELECT sealed, sealed_with FROM exports WHERE id = $1';
  const { rows: exportRows } = await fixture.sql.query(exported, [exportId]);
  expect([before.sealed[0], exportRows[0].sealed[0], exportRows[0].sealed_with]).toEqual([
    2,
    2,
    null,
  ]);
  expect(await eraseApplicant(fixture, retailerId, applicantId)).toBe(true);
  const { rows: keys } = await fixture.sql.query(
    'SELECT sealed, sealed_with, destroyed_at FROM applicant_keys WHERE applicant_id = $1',
    [applicantId],
  );
  expect(keys).toEqual([{ sealed: null, sealed_with: null, destroyed_at: expect.any(Date) }]);

  // A backup of all tables but the keys.
  const restore = 'UPDATE applicants SET sealed = $2, erased_at = NULL WHERE id = $1';
  await fixture.sql.query(restore, [applicantId, before.sealed]);
  const restoreExport = 'UPDATE exports SET sealed = $2 WHERE id = $1';
  await fixture.sql.query(restoreExport, [exportId, exportRows[0].sealed]);
  await expect(openStored(applicantId, retailerId)).rejects.toThrow(SealError);
  const read = () =>
    fixture.service.applications.getApplication({ applicationId }, asIntegration(retailerId));
  const erasedAt = timestampFromDate(keys[0].destroyed_at);
  const shown = {
    primaryApplicant: { applicantId, lastName: '', erasedAt },
    coApplicant: { applicantId: coApplicant?.applicantId, lastName: 'Tremblay' },
  };
  expect((await read()).application).toMatchObject(shown);
  const payload = fixture.service.forDispatcher.getExport({ exportId }, asDispatcher);
  await expect(payload).rejects.toMatchObject({ code: 'export_deleted' });
  const again = fixture.service.applications.exportApplication(target, asIntegration(retailerId));
  await expect(again).rejects.toMatchObject({ code: 'applicant_erased' });
  const subject = await fixture.service.forCreditFile.getInquirySubject(
    { applicationId, applicantId, purpose: 'CREDIT_APPLICATION' },
    asCreditFile,
  );
  expect(subject.consent).toBeUndefined();
  const { creditorId: other } = await registerTenant(fixture);
  const consent = { purpose: 'CREDIT_APPLICATION', textVersion: 'v3', capturedBy: tenant.userId };
  const { applications, consents } = fixture.service;
  for (const refused of [
    () => applications.submitApplication(aSubmission(application, tenant, [other]), as),
    () => consents.recordConsent({ ...target, applicantId, ...consent }, as),
  ]) {
    await expect(refused()).rejects.toMatchObject({ code: 'applicant_erased' });
  }
  expect(await eraseApplicant(fixture, retailerId, applicantId)).toBe(true);
  expect((await findStored(applicantId)).sealed).toHaveLength(0);
});

/** Seals the applicant's row with the key ring, as a version without data keys does. */
async function sealAsVersionBefore(applicantId: string, retailerId: string): Promise<void> {
  const ring = KeyRing.parse(KEYS);
  const message = create(ApplicantSchema, { ...anApplicant(), applicantId });
  const { sealed, sealedWith } = sealInRow(ring, message, retailerId);
  await fixture.sql.query(
    `UPDATE applicants SET key_id = NULL, erased_at = NULL, sealed = $2, sealed_with = $3 WHERE id = $1`,
    [applicantId, sealed, sealedWith],
  );
}

function convert() {
  const { sql: pool } = fixture.database;
  const deps = { pool, keyRing: KeyRing.parse(KEYS), clock: () => new Date(), newId: randomUUID };
  return convertSealedRows(deps, 'applicants');
}

test('an erased applicant whose row comes back from before it had a data key counts as erased, and gets no other key', async () => {
  const { retailerId } = tenant;
  const { applicationId, primaryApplicant } = await createSubmission(fixture, tenant);
  const applicantId = primaryApplicant?.applicantId ?? '';
  await eraseApplicant(fixture, retailerId, applicantId);
  const findKeys = async () => {
    const select = 'SELECT id, destroyed_at FROM applicant_keys WHERE applicant_id = $1';
    return (await fixture.sql.query(select, [applicantId])).rows;
  };
  const keys = await findKeys();
  await sealAsVersionBefore(applicantId, retailerId);

  const erased = { applicantId, lastName: '', erasedAt: timestampFromDate(keys[0].destroyed_at) };
  const isErased = async () => {
    const { application } = await fixture.service.applications.getApplication(
      { applicationId },
      asIntegration(retailerId),
    );
    expect(application?.primaryApplicant).toMatchObject(erased);
    const subject = await fixture.service.forCreditFile.getInquirySubject(
      { applicationId, applicantId, purpose: 'CREDIT_APPLICATION' },
      asCreditFile,
    );
    expect(subject.applicant).toMatchObject(erased);
    expect(subject.consent).toBeUndefined();
    const dataKeys = findDataKeys(fixture.sql, KeyRing.parse(KEYS), applicationId, retailerId);
    expect(await dataKeys).toBe('destroyed');
  };
  await isErased();
  await convert();
  await isErased();
  expect((await findStored(applicantId)).sealed).toHaveLength(0);
  expect(await findKeys()).toEqual(keys);
  const makeAnother = makeKey(
    fixture.sql,
    { keyRing: KeyRing.parse(KEYS), newId: randomUUID },
    { applicantId, retailerId },
    new Date(),
  );
  await expect(makeAnother).rejects.toThrow('the data key of the applicant is destroyed');
});

test('a conversion destroys the key of an applicant whose row a version without data keys has erased', async () => {
  const { retailerId } = tenant;
  const { primaryApplicant } = await createTestApplication(fixture, retailerId);
  const applicantId = primaryApplicant?.applicantId ?? '';
  const ring = KeyRing.parse(KEYS);
  const erased = create(ApplicantSchema, { applicantId });
  const { sealed, sealedWith } = sealInRow(ring, erased, retailerId);
  await fixture.sql.query(
    'UPDATE applicants SET erased_at = now(), sealed = $2, sealed_with = $3 WHERE id = $1',
    [applicantId, sealed, sealedWith],
  );
  await convert();
  expect((await findStored(applicantId)).sealed).toHaveLength(0);
  expect(await findLiveKeyId(fixture.sql, { applicantId, retailerId })).toBeUndefined();
});

test('an erasure after a backup of the keys came back destroys them again', async () => {
  const { retailerId } = tenant;
  const { primaryApplicant } = await createTestApplication(fixture, retailerId);
  const id = primaryApplicant?.applicantId ?? '';
  const { keyId, sealedKey } = await findStored(id);
  await eraseApplicant(fixture, retailerId, id);
  await fixture.sql.query(
    `UPDATE applicant_keys SET sealed = $2, sealed_with = 'k1', destroyed_at = NULL WHERE id = $1`,
    [keyId, sealedKey],
  );
  expect(await eraseApplicant(fixture, retailerId, id)).toBe(true);
  expect((await findStored(id)).sealedKey).toBeNull();
});

test('an erased applicant has no consent that permits an inquiry', async () => {
  const { retailerId } = tenant;
  const { applicationId, primaryApplicant } = await createSubmission(fixture, tenant);
  const applicantId = primaryApplicant?.applicantId ?? '';
  const purpose = 'CREDIT_APPLICATION';
  const find = () =>
    fixture.service.forCreditFile.getInquirySubject(
      { applicationId, applicantId, purpose },
      asCreditFile,
    );
  expect((await find()).consent).toBeDefined();
  await eraseApplicant(fixture, retailerId, applicantId);
  const { consent, applicant } = await find();
  expect(consent).toBeUndefined();
  expect(applicant).toMatchObject({ applicantId, lastName: '', erasedAt: expect.anything() });
});

test('the digest of a stored request differs from the SHA-256 of the request', async () => {
  const { retailerId } = tenant;
  const request = anApplication(retailerId);
  const key = randomUUID();
  await fixture.service.applications.createApplication(request, asIntegration(retailerId, key));
  const stored = await readStoredAnswers(fixture.sql);
  const rows = stored.filter((row) => row.key === key);
  // Someone who reads the database and knows the rest of the request could compute this digest for every
  // social insurance number.
  const message = create(CreateApplicationRequestSchema, request);
  const guess = createHash('sha256')
    .update(toBinary(CreateApplicationRequestSchema, message))
    .digest();
  expect(rows).toHaveLength(1);
  expect(rows[0]?.request_digest).not.toEqual(guess);
});

test('an applicant copied to another row or tenant cannot be opened', async () => {
  const { retailerId } = tenant;
  const { primaryApplicant } = await createTestApplication(fixture, retailerId);
  const id = primaryApplicant?.applicantId ?? '';
  const other = (await createTestApplication(fixture, retailerId)).primaryApplicant?.applicantId;
  const stored = await findStored(id);
  const { keyId, sealedKey } = await findStored(other ?? '');
  const open = (change: Partial<StoredApplicant>, tenantId = retailerId) =>
    openApplicant(KeyRing.parse(KEYS), { ...stored, ...change }, tenantId);
  expect(open({}).sin).toBe('046454286');
  expect(() => open({ id: randomUUID() })).toThrow(SealError);
  expect(() => open({}, randomUUID())).toThrow(SealError);
  expect(() => open({ keyId, sealedKey })).toThrow(SealError);
  expect(() => open({ sealedKey })).toThrow(SealError);
  expect(() => open({ sealedKey: null })).toThrow(SealError);
});

test('a start with a new current key wraps every data key with that key, and no applicant or export', async () => {
  const { retailerId } = tenant;
  const { applicationId } = await createTestApplication(fixture, retailerId);
  const next = `k2:${randomBytes(32).toString('base64')}`;
  await fixture.restart(`${next},${KEYS}`);
  const select = 'SELECT sealed, sealed_with FROM applicant_keys WHERE sealed IS NOT NULL';
  const keyIds = async () => {
    const { rows } = await fixture.sql.query(select);
    return new Set(rows.flatMap((row) => [row.sealed_with, readKeyId(row.sealed)]));
  };
  await expect.poll(keyIds).toEqual(new Set(['k2']));
  const wrapped = `SELECT FROM applicants WHERE sealed_with <> ''
    UNION ALL SELECT FROM exports WHERE sealed_with IS NOT NULL`;
  expect((await fixture.sql.query(wrapped)).rowCount).toBe(0);
  await fixture.restart(next);
  const { application } = await fixture.service.applications.getApplication(
    { applicationId },
    asIntegration(retailerId),
  );
  expect(application?.primaryApplicant?.lastName).toBe('Tremblay');
});

test('a start without the key of a stored applicant fails', async () => {
  await createTestApplication(fixture, tenant.retailerId);
  const keys = `k9:${randomBytes(32).toString('base64')}`;
  await expect(fixture.restart(keys)).rejects.toThrow(UnknownKeyError);
});

function bigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
