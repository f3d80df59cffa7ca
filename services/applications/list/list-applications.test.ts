import { randomUUID } from 'node:crypto';
import { toJson } from '@bufbuild/protobuf';
import { planOf, rowsFilteredOut } from '@creditlane/postgres/test-plans';
import {
  type Application,
  ApplicationStatus,
  ApplicationSummarySchema,
} from '@creditlane/proto/applications/v1/application';
import { cursorAfter, newestBefore } from '@creditlane/rpc/lists/list-cursor';
import { beforeEach, describe, expect, test } from 'vitest';
import { findApplicationSummaries } from '../store/application-summaries.ts';
import {
  aSubmission,
  asGateway,
  asGranter,
  asIntegration,
  createTestApplication,
  registerTenant,
  useTenant,
} from '../test-applications.ts';

const fixture = useTenant();
beforeEach(async () => {
  fixture.tenant = await registerTenant(fixture.applications);
});

interface Query {
  status?: ApplicationStatus;
  referenceNumber?: string;
  limit?: number;
  cursor?: string;
}

const list = (query: Query = {}, retailerId = fixture.tenant.retailerId) =>
  fixture.applications.service.applications.listApplications(
    { limit: 25, ...query },
    asIntegration(retailerId),
  );

const listIds = async (query: Query = {}) =>
  (await list(query)).applications.map(({ applicationId }) => applicationId);

/** The ids of all pages, read one after the other; `between` runs after each page. */
async function walk(query: Query, between: () => Promise<unknown> = async () => {}) {
  const ids: string[] = [];
  let cursor = '';
  do {
    const page = await list({ ...query, cursor });
    ids.push(...page.applications.map(({ applicationId }) => applicationId));
    cursor = page.nextCursor;
    await between();
  } while (cursor !== '');
  return ids;
}

/** Applications as they are stored, oldest first, with equal times where `sameTime` says so. */
async function insertApplications(count: number, { sameTime = false } = {}): Promise<string[]> {
  const { rows } = await fixture.applications.sql.query(
    `INSERT INTO applications (id, retailer_id, type, status, created_at)
     SELECT gen_random_uuid(), $1, 'APPROVAL', 'SAVED',
       timestamptz '2026-03-01 12:00:00.123456Z' + $3 * n * interval '1 microsecond'
     FROM generate_series(1, $2::int) AS n RETURNING id, created_at::text`,
    [fixture.tenant.retailerId, count, sameTime ? 0 : 1],
  );
  return rows
    .toSorted((a, b) => (`${a.created_at} ${a.id}` < `${b.created_at} ${b.id}` ? -1 : 1))
    .map(({ id }) => id);
}

const create = (referenceNumber?: string): Promise<Application> =>
  createTestApplication(
    fixture.applications,
    fixture.tenant.retailerId,
    referenceNumber ? { referenceNumber } : {},
  );

describe('the list of applications', () => {
  test('shows each as it was created and submitted, and nothing about its applicants', async () => {
    const application = await create('DEAL-1');
    const other = (await registerTenant(fixture.applications)).creditorId;
    const submitted = await fixture.applications.service.applications.submitApplication(
      aSubmission(application, fixture.tenant, [fixture.tenant.creditorId, other]),
      asIntegration(fixture.tenant.retailerId),
    );
    const { applications, nextCursor } = await list();
    expect(nextCursor).toBe('');
    expect(applications).toMatchObject([
      {
        applicationId: application.applicationId,
        retailerId: fixture.tenant.retailerId,
        type: application.type,
        status: ApplicationStatus.SUBMITTED,
        referenceNumber: 'DEAL-1',
      },
    ]);
    const [summary] = applications;
    expect(summary?.createdAt).toEqual(application.createdAt);
    const times = (found: { creditorId: string; submittedAt?: unknown }[] = []) =>
      found.map(({ creditorId, submittedAt }) => ({ creditorId, submittedAt }));
    expect(times(summary?.submissions)).toEqual(times(submitted.application?.submissions));
    const shown = JSON.stringify(summary && toJson(ApplicationSummarySchema, summary));
    expect(shown).not.toMatch(/Maya|Tremblay|046-454|1988-07/);
  });

  test('is empty for a retailer without applications', async () => {
    expect(await list()).toMatchObject({ applications: [], nextCursor: '' });
  });

  test('begins with the newest', async () => {
    const ids = [await create(), await create(), await create()].map((it) => it.applicationId);
    expect(await listIds()).toEqual(ids.toReversed());
  });

  test.each([1, 2, 3, 7, 100])(
    'in pages of %i has every application once, also those of the same microsecond',
    async (limit) => {
      const ids = await insertApplications(7, { sameTime: true });
      ids.push(...(await insertApplications(5)));
      expect(await walk({ limit })).toEqual(ids.toReversed());
    },
  );

  test('has every application once while others are created', async () => {
    const ids = await insertApplications(9);
    let created = 0;
    const found = await walk({ limit: 2 }, async () => {
      created += 1;
      await Promise.all([create(), create()]);
    });
    expect(created).toBe(5);
    expect(found).toEqual(ids.toReversed());
  });

  test('filtered by status has the applications in that status only', async () => {
    const [first, second] = [await create(), await create()];
    await fixture.applications.service.applications.archiveApplication(
      { applicationId: first.applicationId },
      asIntegration(fixture.tenant.retailerId),
    );
    expect(await listIds({ status: ApplicationStatus.ARCHIVED })).toEqual([first.applicationId]);
    expect(await listIds({ status: ApplicationStatus.SAVED })).toEqual([second.applicationId]);
    expect(await listIds({ status: ApplicationStatus.DRAFT })).toEqual([]);
  });

  test('filtered by a status that few have reads no application in another', async () => {
    const ids = await insertApplications(2_000);
    const { sql } = fixture.applications;
    for (const [index, status] of ['SUBMITTED', 'ARCHIVED'].entries()) {
      await sql.query('UPDATE applications SET status = $1 WHERE id = $2', [status, ids[index]]);
    }
    await sql.query('ANALYZE applications');
    const query = {
      ...{ retailerId: fixture.tenant.retailerId, status: 'ARCHIVED', referenceNumber: '' },
      ...{ before: newestBefore('', ['applications']), limit: 26 },
    };
    const plan = await planOf(sql, (db) => findApplicationSummaries(db, query), 'any');
    expect(plan).toContain('applications_by_status');
    expect(rowsFilteredOut(plan), plan).toBe(0);
  });

  test('filtered by reference number has the one application of this retailer with it', async () => {
    const wanted = await create('DEAL-7');
    await create('deal-7');
    await create();
    const other = await registerTenant(fixture.applications);
    await createTestApplication(fixture.applications, other.retailerId, {
      referenceNumber: 'DEAL-7',
    });
    expect(await listIds({ referenceNumber: 'DEAL-7' })).toEqual([wanted.applicationId]);
    expect(await listIds({ referenceNumber: 'DEAL' })).toEqual([]);
    const archived = { referenceNumber: 'DEAL-7', status: ApplicationStatus.ARCHIVED };
    expect(await listIds(archived)).toEqual([]);
  });

  test("never has another retailer's applications, also not those of the same group", async () => {
    const sibling = {
      retailerId: randomUUID(),
      name: 'Trucks',
      retailerGroupId: fixture.tenant.retailerGroupId,
    };
    await fixture.applications.service.directory.registerRetailer({ retailer: sibling }, asGranter);
    await createTestApplication(fixture.applications, sibling.retailerId);
    const own = await create();
    expect(await listIds()).toEqual([own.applicationId]);
  });

  test('without a retailer in scope, or with one that does not exist, is not found', async () => {
    const notFound = { kind: 'not_found', code: 'retailer_not_found' };
    await expect(list({}, randomUUID())).rejects.toMatchObject(notFound);
    const { identity } = asIntegration(randomUUID());
    await expect(
      fixture.applications.service.applications.listApplications(
        { limit: 25 },
        { identity: { ...identity, retailerId: undefined } },
      ),
    ).rejects.toMatchObject(notFound);
  });

  test('is refused to a service', async () => {
    await expect(
      fixture.applications.service.applications.listApplications({ limit: 25 }, asGateway),
    ).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test.each([0, 101, -1])('with a limit of %i is refused', async (limit) => {
    await expect(list({ limit })).rejects.toMatchObject({ fields: [{ pointer: '/limit' }] });
  });
});

describe('a cursor of the list of applications', () => {
  const firstCursor = async (query: Query = {}) => {
    await insertApplications(3);
    return (await list({ limit: 1, ...query })).nextCursor;
  };
  const refused = { kind: 'invalid', code: 'invalid_cursor', fields: [{ pointer: '/cursor' }] };

  test('of another retailer, of another filter or of the list of users is refused', async () => {
    const cursor = await firstCursor();
    const status = ApplicationStatus.SAVED;
    await expect(list({ cursor, status })).rejects.toMatchObject(refused);
    await expect(list({ cursor, referenceNumber: 'DEAL-1' })).rejects.toMatchObject(refused);
    const other = await registerTenant(fixture.applications);
    await expect(list({ cursor }, other.retailerId)).rejects.toMatchObject(refused);
    const asUsers = fixture.applications.service.directory.listUsers(
      { cursor, limit: 25 },
      asIntegration(fixture.tenant.retailerId),
    );
    await expect(asUsers).rejects.toMatchObject(refused);
  });

  test('that no list made is refused', async () => {
    for (const cursor of ['x', 'null', Buffer.from('seq:1').toString('base64url')]) {
      await expect(list({ cursor })).rejects.toMatchObject(refused);
    }
  });

  test.each(['2026-02-30T12:00:00.000000Z', 'infinity', '2026-03-01', "'; SELECT 1"])(
    'with the time %s, computed by someone else, is refused',
    async (createdAt) => {
      const key = ['applications', fixture.tenant.retailerId, undefined, ''] as const;
      const valid = cursorAfter(key, ['2026-02-28T12:00:00.000000Z', randomUUID()]);
      expect((await list({ cursor: valid })).applications).toEqual([]);
      const cursor = cursorAfter(key, [createdAt, randomUUID()]);
      await expect(list({ cursor })).rejects.toMatchObject(refused);
    },
  );

  test('goes on with another limit', async () => {
    const cursor = await firstCursor();
    expect((await list({ cursor, limit: 100 })).applications).toHaveLength(2);
  });
});
