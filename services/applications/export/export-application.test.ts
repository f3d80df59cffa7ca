import { randomBytes, randomUUID } from 'node:crypto';
import { readKeyId } from '@creditlane/crypto/envelope';
import { runPurge } from '@creditlane/postgres/retention';
import { Relationship } from '@creditlane/proto/applications/v1/application';
import { expect, test } from 'vitest';
import { lockApplication } from '../store/applications.ts';
import { purgeExports } from '../store/exports.ts';
import {
  anApplicant,
  asDispatcher,
  asGateway,
  asIntegration,
  countWaiting,
  createSubmission,
  createTestApplication,
  eraseApplicant,
  KEYS,
  registerTenant,
  useTenant,
} from '../test-applications.ts';

const fixture = useTenant();
const TARGET = '0198c0de-0000-7000-8000-00000000d002';

const submitNew = (request = {}) => createSubmission(fixture.applications, fixture.tenant, request);

const requestOf = (applicationId: string) => ({
  applicationId,
  creditorId: fixture.tenant.creditorId,
  integrationId: TARGET,
});

const exportIt = (applicationId: string, key?: string, onReplayed = () => {}, change = {}) =>
  fixture.applications.service.applications.exportApplication(
    { ...requestOf(applicationId), ...change },
    { ...asIntegration(fixture.tenant.retailerId, key), onReplayed },
  );

async function payloadTextOf(exportId: string, withSin: boolean): Promise<string> {
  const { forDispatcher } = fixture.applications.service;
  return (await forDispatcher.getExport({ exportId, withSin }, asDispatcher)).payloadJson;
}

const payloadOf = async (exportId: string) => JSON.parse(await payloadTextOf(exportId, true));

async function countExports(): Promise<number> {
  const { rows } = await fixture.applications.sql.query('SELECT count(*)::int AS n FROM exports');
  return rows[0].n;
}

test('an export has the application with both applicants and the worksheet of the submission', async () => {
  const { retailerId, creditorId } = fixture.tenant;
  const { applicationId } = await submitNew({
    coApplicant: { ...anApplicant(), firstName: 'Leo', sin: '' },
    relationship: Relationship.IN_LAW,
  });
  const { exportId, exportedAt, ...ids } = await exportIt(applicationId);
  expect(ids).toMatchObject({ applicationId, creditorId, integrationId: TARGET });
  expect(exportedAt).toBeDefined();
  expect(await payloadOf(exportId)).toMatchObject({
    retailerId,
    applicationId,
    creditorId,
    primaryApplicant: { firstName: 'Maya', sin: '046454286' },
    coApplicant: { firstName: 'Leo', sin: null },
    relationship: 'IN_LAW',
    worksheet: { frequency: 'BI_WEEKLY', salePrice: { amount: 28_995, currency: 'CAD' } },
  });
});

test('an export for a receiver without the permission has null for each social insurance number, and is otherwise the same', async () => {
  const coApplicant = { ...anApplicant(), sin: '130692544' };
  const { applicationId } = await submitNew({ coApplicant, relationship: Relationship.SPOUSE });
  const { exportId } = await exportIt(applicationId);
  const whole = await payloadTextOf(exportId, true);
  const masked = await payloadTextOf(exportId, false);
  expect(masked).not.toBe(whole);
  expect(masked).toBe(whole.replaceAll(/"sin":"(046454286|130692544)"/g, '"sin":null'));
});

test('an application without a co-applicant is exported with null for the co-applicant and the relationship', async () => {
  const { exportId } = await exportIt((await submitNew()).applicationId);
  expect(await payloadOf(exportId)).toMatchObject({ coApplicant: null, relationship: null });
});

test('the event of an export has ids only, and the id of the export', async () => {
  const { applications, tenant } = fixture;
  const { applicationId } = await submitNew();
  const { exportId, exportedAt } = await exportIt(applicationId);
  await applications.service.settled();
  const events = applications.service.events.filter(({ type }) => type.endsWith('Exported'));
  expect(events.at(-1)?.event).toEqual({
    $typeName: 'creditlane.applications.v1.ApplicationExported',
    exportId,
    ...requestOf(applicationId),
    retailerId: tenant.retailerId,
    exportedAt,
  });
  const { rows } = await applications.sql.query('SELECT FROM outbox WHERE event_id = $1', [
    exportId,
  ]);
  expect(rows).toHaveLength(1);
});

test('a later archiving changes nothing in an export, and refuses further exports', async () => {
  const { applicationId } = await submitNew();
  const { exportId } = await exportIt(applicationId);
  const before = await payloadOf(exportId);
  const context = asIntegration(fixture.tenant.retailerId);
  const { applications } = fixture.applications.service;
  await applications.archiveApplication({ applicationId }, context);
  expect(await payloadOf(exportId)).toEqual(before);
  const exports = await countExports();
  await expect(exportIt(applicationId)).rejects.toMatchObject({
    kind: 'conflict',
    code: 'application_archived',
  });
  expect(await countExports()).toBe(exports);
});

test('an export without a recipient is refused, and one that is repeated after the recipient was lost is replayed', async () => {
  const { applicationId } = await submitNew();
  const lost = { lacksRecipient: true };
  const refusal = { kind: 'not_found', code: 'integration_not_found' };
  await expect(exportIt(applicationId, 'k', undefined, lost)).rejects.toMatchObject(refusal);
  const first = await exportIt(applicationId, 'k');
  let replays = 0;
  const countReplay = () => {
    replays += 1;
  };
  expect(await exportIt(applicationId, 'k', countReplay, lost)).toEqual(first);
  expect(replays).toBe(1);
});

test('whether there is a recipient is not told about a creditor to which the application was not submitted', async () => {
  const { applicationId } = await submitNew();
  for (const lacksRecipient of [false, true]) {
    const change = { creditorId: randomUUID(), lacksRecipient };
    await expect(exportIt(applicationId, undefined, undefined, change)).rejects.toMatchObject({
      code: 'submission_not_found',
    });
  }
});

test('an application that was not submitted to the creditor is refused', async () => {
  const { applications, tenant } = fixture;
  const { applicationId } = await createTestApplication(applications, tenant.retailerId);
  const refused = { kind: 'not_found', code: 'submission_not_found' };
  await expect(exportIt(applicationId)).rejects.toMatchObject(refused);
});

test('an application of another retailer is refused like one that does not exist', async () => {
  const { applications, tenant } = fixture;
  const other = await registerTenant(applications);
  const { applicationId } = await createSubmission(applications, other);
  const refused = (id: string) =>
    applications.service.applications
      .exportApplication(requestOf(id), asIntegration(tenant.retailerId))
      .then(String, ({ kind, code, message }) => ({ kind, code, message }));
  const foreign = await refused(applicationId);
  expect(foreign).toMatchObject({ kind: 'not_found', code: 'application_not_found' });
  expect(foreign).toEqual(await refused(randomUUID()));
});

test('requests at once with one idempotency key make one export, and each gets its answer', async () => {
  const { applicationId } = await submitNew();
  const before = await countExports();
  const key = randomUUID();
  let replays = 0;
  const calls = Array.from({ length: 5 }, () =>
    exportIt(applicationId, key, () => {
      replays += 1;
    }),
  );
  const answers = await Promise.all(calls);
  expect(new Set(answers.map(({ exportId }) => exportId)).size).toBe(1);
  expect(replays).toBe(4);
  expect(await countExports()).toBe(before + 1);
  const other = await submitNew();
  await expect(exportIt(other.applicationId, key)).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
});

test('requests without an idempotency key make an export each, with the same ids of records', async () => {
  const { applicationId } = await submitNew();
  const exports = await Promise.all([exportIt(applicationId), exportIt(applicationId)]);
  const [first, second] = await Promise.all(exports.map(({ exportId }) => payloadOf(exportId)));
  expect(exports[0]?.exportId).not.toBe(exports[1]?.exportId);
  expect(first.primaryApplicant.addressHistory[0].id).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toEqual(first);
});

test('only the webhook dispatcher may read an export', async () => {
  const { exportId } = await exportIt((await submitNew()).applicationId);
  for (const caller of [asGateway, asIntegration(fixture.tenant.retailerId)]) {
    const call = fixture.applications.service.applications.getExport({ exportId }, caller);
    await expect(call).rejects.toMatchObject({ kind: 'forbidden' });
  }
});

test('the payload of an export is deleted 45 days later, and the record of the export stays', async () => {
  const { sql } = fixture.applications;
  const { applicationId: purged } = await submitNew();
  const { exportId } = await exportIt(purged);
  const { exportId: kept } = await exportIt((await submitNew()).applicationId);
  const age = (id: string, days: number) =>
    sql.query(`UPDATE exports SET exported_at = now() - $2 * interval '1 day' WHERE id = $1`, [
      id,
      days,
    ]);
  await age(exportId, 45.01);
  await age(kept, 44.9);
  await runPurge(sql as never, purgeExports);
  await expect(payloadOf(exportId)).rejects.toMatchObject({ code: 'export_deleted' });
  const { rows } = await sql.query(
    `SELECT application_id, creditor_id, integration_id, exported_by_integration_id IS NOT NULL AS by,
       sealed, sealed_with FROM exports WHERE id = $1`,
    [exportId],
  );
  expect(rows).toEqual([
    {
      ...{ application_id: purged, creditor_id: fixture.tenant.creditorId, integration_id: TARGET },
      ...{ by: true, sealed: null, sealed_with: null },
    },
  ]);
  expect(await runPurge(sql as never, purgeExports)).toBe(0);
  expect(await payloadOf(kept)).toBeDefined();
});

test('an erasure deletes the payloads of its application alone, and refuses further exports', async () => {
  const { applications, tenant } = fixture;
  const { applicationId, primaryApplicant } = await submitNew({ coApplicant: anApplicant() });
  const key = randomUUID();
  const { exportId } = await exportIt(applicationId, key);
  const { exportId: kept } = await exportIt((await submitNew()).applicationId);
  expect(await eraseApplicant(applications, tenant.retailerId, primaryApplicant?.applicantId)).toBe(
    true,
  );
  await expect(payloadOf(exportId)).rejects.toMatchObject({ code: 'export_deleted' });
  expect(await payloadOf(kept)).toBeDefined();
  expect((await exportIt(applicationId, key)).exportId).toBe(exportId);
  await expect(exportIt(applicationId)).rejects.toMatchObject({
    kind: 'conflict',
    code: 'applicant_erased',
  });
});

test('an export that has read the applicant when an erasure begins stores no payload', async () => {
  const { applications, tenant } = fixture;
  const { applicationId, primaryApplicant } = await submitNew();
  const applicantId = primaryApplicant?.applicantId ?? '';
  const { sql } = applications;
  // The erasure goes on once the export waits for the application, whose applicants it has read.
  await sql.query('BEGIN');
  await lockApplication(sql, applicationId, tenant.retailerId);
  const exported = exportIt(applicationId).then(String, ({ code }) => code);
  const lock = 'SELECT status FROM applications';
  await expect.poll(() => countWaiting(applications, lock)).toBe(1);
  await sql.query('UPDATE applicants SET erased_at = now() WHERE id = $1', [applicantId]);
  await sql.query('COMMIT');
  expect(await exported).toBe('applicant_erased');
});

test('an export whose bytes were changed or moved to another row cannot be read, and the log says so', async () => {
  const { sql, log } = fixture.applications;
  const { exportId } = await exportIt((await submitNew()).applicationId);
  const { exportId: other } = await exportIt((await submitNew()).applicationId);
  const copy =
    'UPDATE exports SET sealed = (SELECT sealed FROM exports WHERE id = $2) WHERE id = $1';
  await sql.query(copy, [exportId, other]);
  const refused = { kind: 'not_found', code: 'export_unreadable' };
  await expect(payloadOf(exportId)).rejects.toMatchObject(refused);
  expect(log.join('\n')).toContain('an export cannot be decrypted');
  await sql.query('DELETE FROM exports WHERE id = $1', [exportId]);
});

test('after a rotation of the key ring an export is read without the old key', async () => {
  const { exportId } = await exportIt((await submitNew()).applicationId);
  const before = await payloadOf(exportId);
  const next = `k2:${randomBytes(32).toString('base64')}`;
  await fixture.applications.restart(`${next},${KEYS}`);
  const select = 'SELECT sealed, sealed_with FROM applicant_keys WHERE sealed IS NOT NULL';
  const keyIds = async () => {
    const { rows } = await fixture.applications.sql.query(select);
    return new Set(rows.flatMap((row) => [row.sealed_with, readKeyId(row.sealed)]));
  };
  // The rotation runs beside the service.
  await expect.poll(keyIds).toEqual(new Set(['k2']));
  await fixture.applications.restart(next);
  expect(await payloadOf(exportId)).toEqual(before);
});
