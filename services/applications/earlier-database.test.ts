import { randomUUID } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { KeyRing } from '@creditlane/crypto/key-ring';
import { migrate } from '@creditlane/postgres/migrate';
import { ApplicantSchema } from '@creditlane/proto/applications/v1/application';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealApplicant } from './applicant/sealed-applicant.ts';
import { exportsWithPayload1764800000000 } from './migrations/0006-exports-with-payload.ts';
import { applications } from './service.ts';
import {
  anApplicant,
  asCreditFile,
  asIntegration,
  KEYS,
  startTestApplications,
  type TestApplications,
} from './test-applications.ts';

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
beforeAll(async () => {
  fixture = await startTestApplications(async ({ url, sql }) => {
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
    await sql.query("INSERT INTO applicants VALUES ($1, $2, 'PRIMARY', $3, $4)", [
      applicantId,
      applicationId,
      sealApplicant(ring, applicant, retailerId),
      ring.currentId,
    ]);
    for (const { id, at } of submissions) await sql.query(insertConsent(id, at.toISOString()));
  });
});
afterAll(() => fixture?.close());

const findPermitting = async () => {
  const request = { applicationId, applicantId, purpose: 'CREDIT_APPLICATION' };
  return (await fixture.service.forCreditFile.getInquirySubject(request, asCreditFile)).consent;
};

test('a consent of the last release permits an inquiry for a year after it was given', async () => {
  const expiresAt = new Date(recentAt);
  expiresAt.setUTCFullYear(expiresAt.getUTCFullYear() + 1);
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
