import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readKeyId, SealError } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { readStoredAnswers } from '@creditlane/idempotency/test-stored-answers';
import { CreateApplicationRequestSchema } from '@creditlane/proto/applications/v1/applications_service';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApplicant } from './applicant/sealed-applicant.ts';
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
  const ring = KeyRing.parse(KEYS);
  const left = openApplicant(ring, rows[0].sealed, applicantId, retailerId);
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
  const { rows } = await fixture.sql.query('SELECT sealed FROM applicants WHERE id = $1', [id]);
  const ring = KeyRing.parse(KEYS);
  expect(openApplicant(ring, rows[0].sealed, id, retailerId).sin).toBe('046454286');
  expect(() => openApplicant(ring, rows[0].sealed, randomUUID(), retailerId)).toThrow(SealError);
  expect(() => openApplicant(ring, rows[0].sealed, id, randomUUID())).toThrow(SealError);
});

test('a start with a new current key wraps every applicant with that key', async () => {
  const { retailerId } = tenant;
  const { applicationId } = await createTestApplication(fixture, retailerId);
  const next = `k2:${randomBytes(32).toString('base64')}`;
  await fixture.restart(`${next},${KEYS}`);
  const select = `SELECT sealed, sealed_with FROM applicants
    UNION ALL SELECT sealed, sealed_with FROM exports WHERE sealed IS NOT NULL`;
  const keyIds = async () => {
    const { rows } = await fixture.sql.query(select);
    return new Set(rows.flatMap((row) => [row.sealed_with, readKeyId(row.sealed)]));
  };
  await expect.poll(keyIds).toEqual(new Set(['k2']));
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
  await expect(fixture.restart(keys)).rejects.toThrow(SealError);
});

function bigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
