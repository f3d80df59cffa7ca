import { randomUUID } from 'node:crypto';
import { type Application, ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  aSubmission,
  asGateway,
  asIntegration,
  createTestApplication,
  registerTenant,
  useTenant,
} from './test-applications.ts';

const fixture = useTenant();
let application: Application;
beforeEach(async () => {
  fixture.tenant = await registerTenant(fixture.applications);
  application = await createTestApplication(fixture.applications, fixture.tenant.retailerId);
});

async function archive(key?: string, retailerId = fixture.tenant.retailerId) {
  let replayed = false;
  const answer = await fixture.applications.service.applications.archiveApplication(
    { applicationId: application.applicationId.toUpperCase() },
    {
      ...asIntegration(retailerId, key),
      onReplayed() {
        replayed = true;
      },
    },
  );
  return { application: answer.application, replayed };
}

const submit = () =>
  fixture.applications.service.applications.submitApplication(
    aSubmission(application, fixture.tenant, [fixture.tenant.creditorId]),
    asIntegration(fixture.tenant.retailerId),
  );

const storedStatus = async () => {
  const { rows } = await fixture.applications.sql.query(
    'SELECT status FROM applications WHERE id = $1',
    [application.applicationId],
  );
  return rows[0].status;
};

describe('archiving', () => {
  test('an application that was never submitted answers with it, masked, and refuses its submission', async () => {
    const archived = await archive();
    expect(archived.application).toMatchObject({
      ...application,
      status: ApplicationStatus.ARCHIVED,
    });
    expect(archived.application?.primaryApplicant?.sin).toMatch(/^\*/);
    expect(await storedStatus()).toBe('ARCHIVED');
    await expect(submit()).rejects.toMatchObject({
      kind: 'conflict',
      code: 'application_archived',
    });
  });

  test('a submitted application keeps its submissions', async () => {
    const submitted = await submit();
    const archived = await archive();
    expect(archived.application).toEqual({
      ...submitted.application,
      status: ApplicationStatus.ARCHIVED,
    });
  });

  test('an archived application changes nothing and succeeds', async () => {
    const first = await archive();
    expect(await archive()).toEqual(first);
  });

  test('a request repeated with its key gets the same answer, marked as replayed', async () => {
    const key = randomUUID();
    const first = await archive(key);
    expect(await archive(key)).toEqual({ ...first, replayed: true });
  });

  test('a key that was used for another application is refused', async () => {
    const key = randomUUID();
    await archive(key);
    application = await createTestApplication(fixture.applications, fixture.tenant.retailerId);
    await expect(archive(key)).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await storedStatus()).toBe('SAVED');
  });

  test('twenty requests at once, with one key or with none, all succeed', async () => {
    for (const key of [randomUUID(), undefined]) {
      application = await createTestApplication(fixture.applications, fixture.tenant.retailerId);
      const answers = await Promise.all(Array.from({ length: 20 }, () => archive(key)));
      const statuses = answers.map((answer) => answer.application?.status);
      expect(statuses).toEqual(Array(20).fill(ApplicationStatus.ARCHIVED));
      const first = answers.filter(({ replayed }) => !replayed);
      expect(first).toHaveLength(key === undefined ? 20 : 1);
    }
  });

  test('and submitting at once leave the application archived, with the submission or without it', async () => {
    const [submitted] = await Promise.allSettled([submit(), archive()]);
    expect(await storedStatus()).toBe('ARCHIVED');
    const { rows } = await fixture.applications.sql.query(
      'SELECT count(*)::int FROM submissions WHERE application_id = $1',
      [application.applicationId],
    );
    expect(rows).toEqual([{ count: submitted.status === 'fulfilled' ? 1 : 0 }]);
  });

  test("another retailer's application is not found, as one that does not exist", async () => {
    const other = await registerTenant(fixture.applications);
    const notFound = { kind: 'not_found', code: 'application_not_found' };
    await expect(archive(undefined, other.retailerId)).rejects.toMatchObject(notFound);
    expect(await storedStatus()).toBe('SAVED');
    application = { ...application, applicationId: randomUUID() };
    await expect(archive()).rejects.toMatchObject(notFound);
  });

  test('is refused to a service', async () => {
    const { applicationId } = application;
    await expect(
      fixture.applications.service.applications.archiveApplication({ applicationId }, asGateway),
    ).rejects.toMatchObject({ kind: 'forbidden' });
  });

  test('publishes no event', async () => {
    fixture.applications.service.events.length = 0;
    await archive();
    await fixture.applications.service.settled();
    expect(fixture.applications.service.events).toEqual([]);
  });
});
