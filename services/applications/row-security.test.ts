import { randomUUID } from 'node:crypto';
import { KeyRing } from '@creditlane/crypto/key-ring';
import type { RowScope } from '@creditlane/postgres/row-security/request-pool';
import { inTransaction } from '@creditlane/postgres/transaction';
import { NIL_UUID } from '@creditlane/runtime/ids';
import {
  findBreachesBetween,
  listUnsecuredTables,
  listUpdatedColumns,
} from '@creditlane/service/test-row-security';
import { expect, test } from 'vitest';
import { findApplicationSummaries } from './store/application-summaries.ts';
import { findApplication } from './store/applications.ts';
import { findConsents } from './store/consents.ts';
import { findUsers } from './store/users.ts';
import {
  aSubmission,
  asIntegration,
  createTestApplication,
  KEYS,
  registerTenant,
  useTenant,
} from './test-applications.ts';

const fixture = useTenant();

/** A new tenant with an exported application, and a stored answer of `caller`. */
async function exportAsNewTenant(caller: string) {
  const { applications } = fixture;
  const tenant = await registerTenant(applications);
  const { retailerId, creditorId } = tenant;
  const application = await createTestApplication(applications, retailerId);
  const { applicationId } = application;
  const { service } = applications;
  const as = asIntegration(retailerId, 'key', caller);
  const submission = aSubmission(application, tenant, [creditorId]);
  await service.applications.submitApplication(submission, as);
  const { primaryApplicant } = application;
  const applicantId = primaryApplicant?.applicantId ?? '';
  const exported = { applicationId, creditorId, integrationId: caller };
  await service.applications.exportApplication(exported, as);
  return { ...tenant, applicationId, applicantId };
}

test('every table is under row security, or holds nothing of a tenant for requests', async () => {
  expect(await listUnsecuredTables(fixture.applications.database)).toEqual({
    // TypeORM's list of the migrations that were run.
    migrations: [],
    // The names of creditors: every retailer may submit an application to every creditor.
    creditors: ['SELECT'],
    // The names of groups, which only the platform's administration uses.
    retailer_groups: [],
    // Of libs/messaging: only the service itself reads events, and requests can do no more than add some.
    outbox: ['INSERT'],
    outbox_lease: [],
    // The audit of platform acts, which the platform's administration alone adds to and reads.
    platform_acts: [],
  });
});

test('a request changes nothing of an application but its status', async () => {
  const columns = await listUpdatedColumns(fixture.applications.database, 'applications');
  expect(columns).toEqual(['status']);
});

// Before findBreaches, which gives requests every privilege.
test('a request changes nothing of a consent but its revocation', async () => {
  const { database } = fixture.applications;
  const { retailerId, applicantId } = await exportAsNewTenant(randomUUID());
  const db = database.requests.within({ retailers: [retailerId] });
  const change = (what: string) =>
    inTransaction(db, (tx) =>
      tx.query(`${what} WHERE applicant_id = $1`, [applicantId]).then(({ rowCount }) => rowCount),
    );
  expect(await change('UPDATE consents SET revoked_at = now()')).toBe(1);
  const denied = { message: 'permission denied for table consents' };
  for (const column of ['expires_at', 'consented_at', 'text_version', 'purpose', 'applicant_id']) {
    await expect(change(`UPDATE consents SET ${column} = DEFAULT`)).rejects.toMatchObject(denied);
  }
  await expect(change('DELETE FROM consents')).rejects.toMatchObject(denied);
});

test('without its filter, a statement of a retailer reaches no row of another', async () => {
  const { database } = fixture.applications;
  expect(await findBreachesBetween('retailers', database, exportAsNewTenant)).toEqual([]);
});

test('a query whose own filter admits every tenant finds only what belongs to the scope', async () => {
  const { requests } = fixture.applications.database;
  const tenant = await exportAsNewTenant(randomUUID());
  const { applicationId, applicantId, retailerId, userId } = tenant;
  const keyRing = KeyRing.parse(KEYS);
  const page = { retailerId, limit: 10 };
  const any = { status: undefined, referenceNumber: '', active: undefined, after: NIL_UUID };
  const before = { at: 'infinity', id: NIL_UUID };
  const findIn = async (scope: RowScope) => {
    const db = requests.within(scope);
    const application = await findApplication(db, keyRing, applicationId, retailerId);
    const summaries = await findApplicationSummaries(db, { ...page, ...any, before });
    const users = await findUsers(db, { ...page, ...any });
    const key = { applicantId, applicationId, retailerId };
    const consents = await findConsents(db, key, before, 10);
    const ids = users?.map(({ id }) => id);
    return [application?.applicationId, summaries?.length, ids, consents?.length];
  };
  expect(await findIn({ retailers: [retailerId] })).toEqual([applicationId, 1, [userId], 1]);
  const { retailerId: foreign } = fixture.tenant;
  for (const scope of [{ retailers: [foreign] }, { creditors: [retailerId] }, {}]) {
    expect(await findIn(scope)).toEqual([undefined, undefined, undefined, undefined]);
  }
});
