import { randomUUID } from 'node:crypto';
import { markInProgress } from '@creditlane/idempotency/duplicate-requests';
import { type Application, ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  anApplicant,
  aSubmission,
  asDecisions,
  asIntegration,
  asPlatform,
  aUser,
  createTestApplication,
  registerTenant,
  startTestApplications,
  type Tenant,
  type TestApplications,
} from '../test-applications.ts';

let fixture: TestApplications;
let tenant: Tenant;
let application: Application;
let otherCreditorId: string;
beforeAll(async () => {
  fixture = await startTestApplications();
});
afterAll(() => fixture?.close());
beforeEach(async () => {
  tenant = await registerTenant(fixture);
  application = await createTestApplication(fixture, tenant.retailerId, {
    coApplicant: anApplicant(),
  });
  otherCreditorId = (await registerTenant(fixture)).creditorId;
  fixture.service.events.length = 0;
});

type Request = ReturnType<typeof aSubmission>;

async function submit(change: Partial<Request> = {}, key?: string) {
  let replayed = false;
  const answer = await fixture.service.applications.submitApplication(
    { ...aSubmission(application, tenant, [tenant.creditorId]), ...change },
    {
      ...asIntegration(tenant.retailerId, key),
      onReplayed() {
        replayed = true;
      },
    },
  );
  return { application: answer.application, replayed };
}

const published = async () => {
  await fixture.service.settled();
  return fixture.service.events.map(({ event }) => event);
};

const submissionOf = (creditorId: string) =>
  fixture.service.forDecisions.getSubmission(
    { applicationId: application.applicationId, creditorId },
    asDecisions,
  );

/** The consents of the primary applicant, newest first. */
const consentsOfPrimary = async () => {
  const { applicationId, primaryApplicant } = application;
  const applicantId = primaryApplicant?.applicantId ?? '';
  const request = { applicationId, applicantId, limit: 25 };
  const as = asIntegration(tenant.retailerId);
  return (await fixture.service.consents.listConsents(request, as)).consents;
};

/** Expects no row, consent, event or change of status from a refused submission. */
async function expectNothingSubmitted() {
  expect(await published()).toEqual([]);
  const { rows } = await fixture.sql.query(
    `SELECT status,
       (SELECT count(*)::int FROM submissions WHERE application_id = id) AS submissions,
       (SELECT count(*)::int FROM consents JOIN applicants ON applicants.id = applicant_id
          WHERE application_id = applications.id) AS consents
     FROM applications WHERE id = $1`,
    [application.applicationId],
  );
  expect(rows).toEqual([{ status: 'SAVED', submissions: 0, consents: 0 }]);
}

describe('a submitted application', () => {
  test('has a submission with its worksheet, and an event, for every creditor', async () => {
    const creditorIds = [tenant.creditorId, otherCreditorId];
    const { worksheet } = aSubmission(application, tenant, creditorIds);
    const vehicle = { ...worksheet.vehicle, vin: '1hgbh41jxmn109186' };
    const answer = await submit({ creditorIds, worksheet: { ...worksheet, vehicle } });
    expect(answer.application?.status).toBe(ApplicationStatus.SUBMITTED);
    const submitted = answer.application?.submissions ?? [];
    expect(submitted.map(({ creditorId }) => creditorId).sort()).toEqual([...creditorIds].sort());
    expect(submitted[0]?.worksheet).toMatchObject({
      terms: { firstPaymentDate: '2027-01-15', interestRate: 7.49, term: 60 },
      vehicle: { vin: '1HGBH41JXMN109186' },
    });
    expect(await published()).toMatchObject(
      creditorIds.map((creditorId) => ({
        applicationId: application.applicationId,
        retailerId: tenant.retailerId,
        creditorId,
        worksheet: { firstPaymentDate: '2027-01-15', interestRate: 7.49, term: 60 },
      })),
    );
  });

  test('can be read by the decisions service', async () => {
    const answer = await submit();
    const { seconds } = answer.application?.submissions[0]?.submittedAt ?? { seconds: 0n };
    const submission = await submissionOf(tenant.creditorId);
    expect(submission).toMatchObject({
      retailerId: tenant.retailerId,
      worksheet: { firstPaymentDate: '2027-01-15', interestRate: 7.49, term: 60 },
    });
    expect(BigInt(Math.floor(Date.parse(submission.submittedAt) / 1000))).toBe(seconds);
    await expect(submissionOf(otherCreditorId)).rejects.toMatchObject({
      code: 'submission_not_found',
    });
  });

  test('has each applicant’s consent, with its user, integration and time', async () => {
    await submit();
    const { rows } = await fixture.sql.query(
      `SELECT applicant_id, recorded_by_user_id, consents.integration_id, consented_at = submissions.submitted_at AS together
       FROM consents JOIN applicants ON applicants.id = applicant_id
         JOIN submissions USING (application_id) WHERE application_id = $1 ORDER BY applicant_id`,
      [application.applicationId],
    );
    const integration_id = asIntegration('').identity.subject;
    const consent = { recorded_by_user_id: tenant.userId, integration_id, together: true };
    const { primaryApplicant, coApplicant } = application;
    const ids = [primaryApplicant?.applicantId, coApplicant?.applicantId].sort();
    expect(rows).toEqual(ids.map((applicant_id) => ({ applicant_id, ...consent })));
  });

  test('to one creditor after another keeps the consents of the first submission', async () => {
    await submit();
    await submit({ creditorIds: [otherCreditorId] });
    expect(await consentsOfPrimary()).toHaveLength(1);
  });

  test('with another text or document has another consent', async () => {
    const creditorIds = [];
    for (let count = 0; count < 4; count += 1) {
      creditorIds.push((await registerTenant(fixture)).creditorId);
    }
    const { consents } = aSubmission(application, tenant, []);
    const documentSha256 = 'ab'.repeat(32);
    const says = (terms: object) => consents.map((consent) => ({ ...consent, ...terms }));
    const given = [{}, { textVersion: 'v2' }, { textVersion: 'v2', documentSha256 }];
    for (const [index, terms] of [...given, given[2] as object].entries()) {
      await submit({ creditorIds: creditorIds.slice(index, index + 1), consents: says(terms) });
    }
    expect(await consentsOfPrimary()).toMatchObject([
      { textVersion: 'v2', documentSha256 },
      { textVersion: 'v2', documentSha256: '' },
      { textVersion: 'unspecified', documentSha256: '' },
    ]);
  });

  test.each([
    ['was revoked', "revoked_at = now() - interval '1 ms'"],
    ['ends soon', "expires_at = now() + interval '11 months'"],
  ])('whose earlier consent %s has another consent', async (_, change) => {
    await submit();
    await fixture.sql.query(`UPDATE consents SET ${change}`);
    await submit({ creditorIds: [otherCreditorId] });
    expect(await consentsOfPrimary()).toHaveLength(2);
  });

  test('can be submitted to another creditor later', async () => {
    await submit();
    const { application } = await submit({ creditorIds: [otherCreditorId] });
    expect(application?.submissions).toHaveLength(2);
    expect(await published()).toHaveLength(2);
  });

  test('has one submission to a creditor named twice', async () => {
    const creditorIds = [tenant.creditorId, tenant.creditorId.toUpperCase()];
    const { application } = await submit({ creditorIds });
    expect(application?.submissions).toHaveLength(1);
  });

  test('can be submitted by a user of the retailer’s group', async () => {
    const userId = randomUUID();
    const user = { ...aUser(userId), retailerGroupIds: [tenant.retailerGroupId] };
    await fixture.service.directory.registerUser({ user }, asPlatform);
    await expect(submit({ submittedByUserId: userId })).resolves.toBeDefined();
  });
});

describe('a submission is made for all its creditors or none:', () => {
  test('a submission with one unknown creditor is refused for all creditors', async () => {
    const creditorIds = [tenant.creditorId, randomUUID()];
    await expect(submit({ creditorIds })).rejects.toMatchObject({
      kind: 'not_found',
      code: 'creditor_not_found',
    });
    await expectNothingSubmitted();
  });

  test('a submission with one creditor that has the application is refused for all creditors', async () => {
    await submit();
    const creditorIds = [otherCreditorId, tenant.creditorId];
    await expect(submit({ creditorIds })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'already_submitted',
    });
    expect(await published()).toHaveLength(1);
    await expect(submissionOf(otherCreditorId)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('a submission by an inactive user is refused', async () => {
    const user = { ...aUser(tenant.userId), active: false, retailerIds: [tenant.retailerId] };
    await fixture.service.directory.registerUser({ user }, asPlatform);
    await expect(submit()).rejects.toMatchObject({ fields: [{ pointer: '/submittedByUserId' }] });
    await expectNothingSubmitted();
  });

  test('a submission with one consent for two applicants is refused', async () => {
    const { consents } = aSubmission(application, tenant, []);
    await expect(submit({ consents: consents.slice(1) })).rejects.toMatchObject({
      fields: [{ pointer: '/consents' }],
    });
    await expectNothingSubmitted();
  });

  test('a submission of an archived application is refused', async () => {
    const { applicationId } = application;
    await fixture.sql.query("UPDATE applications SET status = 'ARCHIVED' WHERE id = $1", [
      applicationId,
    ]);
    await expect(submit()).rejects.toMatchObject({
      kind: 'conflict',
      code: 'application_archived',
    });
    expect(await published()).toEqual([]);
  });

  test('one of several concurrent submissions to one creditor is made', async () => {
    const results = await Promise.allSettled([submit(), submit(), submit()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await published()).toHaveLength(1);
  });
});

describe('the scope of a call', () => {
  test('an application of another retailer is refused like one that does not exist', async () => {
    const otherTenant = await registerTenant(fixture);
    const call = (applicationId: string) =>
      fixture.service.applications
        .submitApplication(
          { ...aSubmission(application, otherTenant, [otherTenant.creditorId]), applicationId },
          asIntegration(otherTenant.retailerId),
        )
        .then(String, ({ kind, code, message, fields }) => ({ kind, code, message, fields }));
    const foreign = await call(application.applicationId);
    expect(foreign).toMatchObject({ kind: 'not_found', code: 'application_not_found' });
    expect(foreign).toEqual(await call(randomUUID()));
    await expectNothingSubmitted();
  });

  test('only the decisions service reads submissions, and only the gateway locates applications', async () => {
    await submit();
    const { applicationId } = application;
    const { applications, forDecisions } = fixture.service;
    const request = { applicationId, creditorId: tenant.creditorId };
    const asRetailer = asIntegration(tenant.retailerId);
    await expect(applications.getSubmission(request, asRetailer)).rejects.toMatchObject({
      kind: 'forbidden',
    });
    await expect(forDecisions.locateApplication(request, asDecisions)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('with an idempotency key,', () => {
  test('a repeated request has one effect and the first answer, also after other submissions', async () => {
    const key = randomUUID();
    const first = await submit({}, key);
    await submit({ creditorIds: [otherCreditorId] });
    const again = await submit({}, key);
    expect(again).toEqual({ application: first.application, replayed: true });
    expect(await published()).toHaveLength(2);
  });

  test('duplicate requests at once have one effect and one answer', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 6 }, () => submit({}, key)));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const answer of answers) expect(answer.application).toEqual(answers[0]?.application);
    expect(await published()).toHaveLength(1);
  });

  test('a key whose request was refused can be used again', async () => {
    const key = randomUUID();
    await expect(submit({ consents: [] }, key)).rejects.toMatchObject({ kind: 'invalid' });
    expect((await submit({}, key)).replayed).toBe(false);
  });

  test('a lock timeout is a conflict while a duplicate request runs, and unavailable otherwise', async () => {
    const key = randomUUID();
    const operation = 'creditlane.applications.v1.ApplicationsService/SubmitApplication';
    const callerId = asIntegration('').identity.subject;
    const { applicationId } = application;
    onTestFinished(() => fixture.restart());
    await fixture.restart(undefined, { LOCK_TIMEOUT: '300ms' });
    await fixture.sql.query('BEGIN');
    try {
      await fixture.sql.query('SELECT FROM applications WHERE id = $1 FOR UPDATE', [applicationId]);
      await expect(submit({}, key)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 });
      await markInProgress(fixture.sql, {
        callerId,
        operation,
        key,
        requestDigest: Buffer.alloc(32),
      });
      await expect(submit({}, key)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    } finally {
      await fixture.sql.query('ROLLBACK');
    }
    expect((await submit({}, key)).replayed).toBe(false);
  });
});
