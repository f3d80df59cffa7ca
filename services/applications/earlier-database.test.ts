import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { readKeyId } from '@creditlane/crypto/envelope';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { DatabaseNewerError, migrate } from '@creditlane/postgres/migrate';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { silentLog } from '@creditlane/runtime/test-log';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealInRow } from './applicant/sealed-applicant.ts';
import { exportsWithPayload1764800000000 } from './migrations/0006-exports-with-payload.ts';
import { applicantKeys1765000000000 } from './migrations/0010-applicant-keys.ts';
import { applications } from './service.ts';
import {
  anApplicant,
  asCreditFile,
  asDispatcher,
  asIntegration,
  createSubmission,
  eraseApplicant,
  KEYS,
  registerTenant,
  SIN,
  startTestApplications,
  type TestApplications,
} from './test-applications.ts';
import { useDataKeys } from './use-data-keys.ts';

/** The migrations of the last release. */
const { migrations } = applications.database;
const RELEASED = migrations.slice(0, migrations.indexOf(exportsWithPayload1764800000000) + 1);

const [retailerId, userId, integrationId] = [randomUUID(), randomUUID(), randomUUID()];
const [applicationId, applicantId] = [randomUUID(), randomUUID()];

/** The consent that the last release records with a submission. */
const insertConsent = (id: string, at: string) => ({
  text: `INSERT INTO consents (id, applicant_id, recorded_by_user_id, integration_id, consented_at)
         VALUES ($1, $2, $3, $4, $5)`,
  values: [id, applicantId, userId, integrationId, at],
});

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const recentAt = daysAgo(40);
/** The last release records a consent with each submission, here to one creditor after another. */
const submissions = [recentAt, daysAgo(41), daysAgo(42), daysAgo(43), daysAgo(400)].map((at) => ({
  id: randomUUID(),
  at,
}));
const ids = submissions.map(({ id }) => id);

let fixture: TestApplications;
/** Puts what the last release has written into the database. */
async function writeAsLastRelease({ url, sql }: TestDatabase): Promise<void> {
  await migrate(url, RELEASED, silentLog);
  await sql.query("INSERT INTO retailers VALUES ($1, 'Harbour Motors', NULL)", [retailerId]);
  await sql.query(
    "INSERT INTO users VALUES ($1, 'Noor', 'Singh', 'noor@harbour.example', true, $2, '{}')",
    [userId, [retailerId]],
  );
  await sql.query(
    "INSERT INTO applications VALUES ($1, $2, 'APPROVAL', 'SUBMITTED', NULL, NULL, now())",
    [applicationId, retailerId],
  );
  const applicant = create(ApplicantSchema, { ...anApplicant(), applicantId });
  const ring = KeyRing.parse(KEYS);
  const { sealed, sealedWith } = sealInRow(ring, applicant, retailerId);
  await sql.query("INSERT INTO applicants VALUES ($1, $2, 'PRIMARY', $3, $4)", [
    ...[applicantId, applicationId, sealed, sealedWith],
  ]);
  for (const { id, at } of submissions) await sql.query(insertConsent(id, at.toISOString()));
}
beforeAll(async () => {
  fixture = await startTestApplications(writeAsLastRelease);
});
afterAll(() => fixture?.close());

const findPermitting = async () => {
  const request = { applicationId, applicantId, purpose: 'CREDIT_APPLICATION' };
  return (await fixture.service.forCreditFile.getInquirySubject(request, asCreditFile)).consent;
};

test('a consent of the last release permits an inquiry for a year after it was given', async () => {
  const expiresAt = new Date(recentAt);
  expiresAt.setUTCFullYear(expiresAt.getUTCFullYear() + 1);
  // In PostgreSQL, a year after 29 February is 28 February.
  if (expiresAt.getUTCDate() !== recentAt.getUTCDate()) expiresAt.setUTCDate(0);
  expect(await findPermitting()).toMatchObject({
    id: ids[0],
    purpose: 'CREDIT_APPLICATION',
    textVersion: 'unspecified',
    documentSha256: '',
    capturedAt: timestampFromDate(recentAt),
    capturedBy: userId,
    recordedAt: timestampFromDate(recentAt),
    expiresAt: timestampFromDate(expiresAt),
  });
  const page = { applicationId, applicantId, limit: 25 };
  const { consents } = await fixture.service.consents.listConsents(page, asIntegration(retailerId));
  expect(consents.map(({ id }) => id)).toEqual(ids);
});

test('one consent of the last release is revoked with all of its applicant’s, and one that it records later counts', async () => {
  const revocation = { applicationId, applicantId, consentId: ids[2] ?? '' };
  await fixture.service.consents.revokeConsent(revocation, asIntegration(retailerId));
  expect(await findPermitting()).toBeUndefined();
  const meanwhile = randomUUID();
  await fixture.sql.query(insertConsent(meanwhile, new Date().toISOString()));
  expect((await findPermitting())?.id).toBe(meanwhile);
});

/** What is sealed, and which key of the ring wraps it; empty or null where data keys of applicants seal it. */
async function sealedWith(): Promise<Record<string, (string | null)[]>> {
  const { rows } = await fixture.sql.query(
    `SELECT 'applicants' AS name, sealed_with, sealed FROM applicants
     UNION ALL SELECT 'exports', sealed_with, sealed FROM exports WHERE sealed IS NOT NULL`,
  );
  for (const { sealed_with, sealed } of rows) {
    if (sealed_with) expect(readKeyId(sealed)).toBe(sealed_with);
  }
  const of = (table: string) =>
    rows.filter(({ name }) => name === table).map(({ sealed_with }) => sealed_with);
  return { applicants: of('applicants'), exports: of('exports') };
}

test('the version before can use the database until --use-data-keys, which seals with data keys what it has sealed', async () => {
  const { sql, database, service } = fixture;
  const tenant = await registerTenant(fixture);
  const exportNew = async () => {
    const { applicationId, primaryApplicant } = await createSubmission(fixture, tenant);
    const target = { applicationId, creditorId: tenant.creditorId, integrationId: randomUUID() };
    const caller = asIntegration(tenant.retailerId);
    const { exportId } = await service.applications.exportApplication(target, caller);
    return { applicantId: primaryApplicant?.applicantId ?? '', exportId };
  };
  const payloadOf = async ({ exportId }: { exportId: string }) =>
    (await service.forDispatcher.getExport({ exportId }, asDispatcher)).payloadJson;
  const [kept, erased] = [await exportNew(), await exportNew()];
  const payload = await payloadOf(kept);
  expect(await eraseApplicant(fixture, tenant.retailerId, erased.applicantId)).toBe(true);
  expect(await sealedWith()).toEqual({ applicants: ['k1', 'k1', 'k1'], exports: ['k1'] });
  const gauge = 'creditlane_applications_rows_without_data_keys';
  expect(await service.metrics.text()).toContain(`${gauge}{table="applicants"} 3`);
  const before = migrations.slice(0, migrations.indexOf(applicantKeys1765000000000));
  await migrate(database.url, before, silentLog);

  const lines: object[] = [];
  const settings = { keyRing: KeyRing.parse(KEYS) };
  const convert = async () => {
    lines.length = 0;
    const print = (line: object) => void lines.push(line);
    return useDataKeys({ settings, database: { pool: database.sql }, print });
  };
  // A row that a transaction has locked is passed over: the conversion waits for none.
  const holder = new pg.Client(database.url);
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM applicants WHERE id = $1 FOR UPDATE', [kept.applicantId]);
  expect(await convert().finally(() => holder.end())).toBe(false);
  // The service converts, too, and may do it first.
  expect(lines).toEqual([
    { table: 'applicants', converted: expect.any(Number), left: 1 },
    { table: 'exports', converted: 0, left: 1 },
  ]);
  expect((await sealedWith()).applicants?.toSorted()).toEqual(['', '', 'k1']);
  expect(await convert()).toBe(true);
  expect(await sealedWith()).toEqual({ applicants: ['', '', ''], exports: [null] });
  const { rows } = await sql.query('SELECT applicant_id FROM applicant_keys');
  expect(new Set(rows.map((row) => row.applicant_id))).toEqual(
    new Set([applicantId, kept.applicantId]),
  );

  await expect(migrate(database.url, before, silentLog)).rejects.toThrow(DatabaseNewerError);
  expect(await payloadOf(kept)).toBe(payload);
  const request = { applicationId, applicantId, purpose: 'CREDIT_APPLICATION' };
  const subject = await service.forCreditFile.getInquirySubject(request, asCreditFile);
  expect(subject.applicant).toMatchObject({ applicantId, lastName: 'Tremblay', sin: SIN });
  await exportNew();
  expect((await sealedWith()).applicants).toEqual(['', '', '', '']);
});

test('a service that no other process runs beside seals with data keys at its start what the last release has sealed', async () => {
  const alone = await startTestApplications(writeAsLastRelease, true);
  try {
    const select = 'SELECT key_id IS NOT NULL AS has_key, sealed_with FROM applicants';
    const rows = async () => (await alone.sql.query(select)).rows;
    await expect.poll(rows).toEqual([{ has_key: true, sealed_with: '' }]);
  } finally {
    await alone.close();
  }
});
