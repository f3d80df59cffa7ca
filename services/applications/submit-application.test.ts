import { randomUUID } from 'node:crypto';
import { announceRequest } from '@creditlane/idempotency/stored-answers';
import { type Application, ApplicationStatus } from '@creditlane/proto/applications/v1/application';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  anApplicant,
  aSubmission,
  asDecisions,
  asIntegration,
  asPlatform,
  aUser,
  created,
  type Directory,
  furnish,
  startWorld,
  type World,
} from './test-applications.ts';

let world: World;
let directory: Directory;
let application: Application;
let other: string;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());
beforeEach(async () => {
  directory = await furnish(world);
  application = await created(world, directory.retailerId, { coApplicant: anApplicant() });
  other = (await furnish(world)).creditorId;
  world.service.events.length = 0;
});

type Request = ReturnType<typeof aSubmission>;

async function submit(change: Partial<Request> = {}, key?: string) {
  let replayed = false;
  const answer = await world.service.applications.submitApplication(
    { ...aSubmission(application, directory, [directory.creditorId]), ...change },
    {
      ...asIntegration(directory.retailerId, key),
      onReplayed() {
        replayed = true;
      },
    },
  );
  return { application: answer.application, replayed };
}

const published = async () => {
  await world.service.settled();
  return world.service.events.map(({ event }) => event);
};

const submissionOf = (creditorId: string) =>
  world.service.forDecisions.getSubmission(
    { applicationId: application.applicationId, creditorId },
    asDecisions,
  );

/** Nothing of a refused submission is there: no row, no consent, no event, no other status. */
async function expectNothingSubmitted() {
  expect(await published()).toEqual([]);
  const { rows } = await world.sql.query(
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
  test('is in front of every creditor, with its worksheet, and tells it in an event for each', async () => {
    const creditorIds = [directory.creditorId, other];
    const answer = await submit({ creditorIds });
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
        retailerId: directory.retailerId,
        creditorId,
        worksheet: { firstPaymentDate: '2027-01-15', interestRate: 7.49, term: 60 },
      })),
    );
  });

  test('is what the decisions service gets to read', async () => {
    const answer = await submit();
    const { seconds } = answer.application?.submissions[0]?.submittedAt ?? { seconds: 0n };
    const submission = await submissionOf(directory.creditorId);
    expect(submission).toMatchObject({
      retailerId: directory.retailerId,
      worksheet: { firstPaymentDate: '2027-01-15', interestRate: 7.49, term: 60 },
    });
    expect(BigInt(Math.floor(Date.parse(submission.submittedAt) / 1000))).toBe(seconds);
    await expect(submissionOf(other)).rejects.toMatchObject({ code: 'submission_not_found' });
  });

  test('has each applicant’s consent on record, with who said so and when', async () => {
    await submit();
    const { rows } = await world.sql.query(
      `SELECT applicant_id, recorded_by_user_id, consents.integration_id, consented_at = submissions.submitted_at AS together
       FROM consents JOIN applicants ON applicants.id = applicant_id
         JOIN submissions USING (application_id) WHERE application_id = $1 ORDER BY applicant_id`,
      [application.applicationId],
    );
    const integration_id = asIntegration('').identity.subject;
    const consent = { recorded_by_user_id: directory.userId, integration_id, together: true };
    const { primaryApplicant, coApplicant } = application;
    const ids = [primaryApplicant?.applicantId, coApplicant?.applicantId].sort();
    expect(rows).toEqual(ids.map((applicant_id) => ({ applicant_id, ...consent })));
  });

  test('can be put in front of another creditor later', async () => {
    await submit();
    const { application } = await submit({ creditorIds: [other] });
    expect(application?.submissions).toHaveLength(2);
    expect(await published()).toHaveLength(2);
  });

  test('goes to a creditor named twice once', async () => {
    const creditorIds = [directory.creditorId, directory.creditorId.toUpperCase()];
    const { application } = await submit({ creditorIds });
    expect(application?.submissions).toHaveLength(1);
  });

  test('may be submitted by a user of the retailer’s group', async () => {
    const userId = randomUUID();
    const user = { ...aUser(userId), retailerGroupIds: [directory.retailerGroupId] };
    await world.service.directory.registerUser({ user }, asPlatform);
    await expect(submit({ submittedByUserId: userId })).resolves.toBeDefined();
  });
});

describe('all or nothing:', () => {
  test('an unknown creditor among known ones refuses them all', async () => {
    const creditorIds = [directory.creditorId, randomUUID()];
    await expect(submit({ creditorIds })).rejects.toMatchObject({
      kind: 'not_found',
      code: 'creditor_not_found',
    });
    await expectNothingSubmitted();
  });

  test('a creditor that has it already refuses the new ones beside it', async () => {
    await submit();
    const creditorIds = [other, directory.creditorId];
    await expect(submit({ creditorIds })).rejects.toMatchObject({
      kind: 'conflict',
      code: 'already_submitted',
    });
    expect(await published()).toHaveLength(1);
    await expect(submissionOf(other)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('a user who was made inactive submits nothing', async () => {
    const user = { ...aUser(directory.userId), active: false, retailerIds: [directory.retailerId] };
    await world.service.directory.registerUser({ user }, asPlatform);
    await expect(submit()).rejects.toMatchObject({ fields: [{ pointer: '/submittedByUserId' }] });
    await expectNothingSubmitted();
  });

  test('one consent for two applicants is not enough', async () => {
    const { consents } = aSubmission(application, directory, []);
    await expect(submit({ consents: consents.slice(1) })).rejects.toMatchObject({
      fields: [{ pointer: '/consents' }],
    });
    await expectNothingSubmitted();
  });

  test('an archived application takes no submission', async () => {
    const { applicationId } = application;
    await world.sql.query("UPDATE applications SET status = 'ARCHIVED' WHERE id = $1", [
      applicationId,
    ]);
    await expect(submit()).rejects.toMatchObject({
      kind: 'conflict',
      code: 'application_archived',
    });
    expect(await published()).toEqual([]);
  });

  test('of two at once for the same creditor one is made', async () => {
    const results = await Promise.allSettled([submit(), submit(), submit()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await published()).toHaveLength(1);
  });
});

describe('tenants', () => {
  test('a foreign application is refused exactly like one that does not exist', async () => {
    const tenant = await furnish(world);
    const call = (applicationId: string) =>
      world.service.applications
        .submitApplication(
          { ...aSubmission(application, tenant, [tenant.creditorId]), applicationId },
          asIntegration(tenant.retailerId),
        )
        .then(String, ({ kind, code, message, fields }) => ({ kind, code, message, fields }));
    const foreign = await call(application.applicationId);
    expect(foreign).toMatchObject({ kind: 'not_found', code: 'application_not_found' });
    expect(foreign).toEqual(await call(randomUUID()));
    await expectNothingSubmitted();
  });

  test('only the decisions service reads submissions, and no integration locates applications', async () => {
    await submit();
    const { applicationId } = application;
    const { applications, forDecisions } = world.service;
    const asking = { applicationId, creditorId: directory.creditorId };
    const asRetailer = asIntegration(directory.retailerId);
    await expect(applications.getSubmission(asking, asRetailer)).rejects.toMatchObject({
      kind: 'forbidden',
    });
    await expect(forDecisions.locateApplication(asking, asDecisions)).rejects.toMatchObject({
      kind: 'forbidden',
    });
  });
});

describe('with an idempotency key', () => {
  test('a repeated submit has one effect and one answer, whatever came between', async () => {
    const key = randomUUID();
    const first = await submit({}, key);
    await submit({ creditorIds: [other] });
    const again = await submit({}, key);
    expect(again).toEqual({ application: first.application, replayed: true });
    expect(await published()).toHaveLength(2);
  });

  test('twins at once have one effect and one answer', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 6 }, () => submit({}, key)));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    for (const answer of answers) expect(answer.application).toEqual(answers[0]?.application);
    expect(await published()).toHaveLength(1);
  });

  test('a refused submit does not consume the key', async () => {
    const key = randomUUID();
    await expect(submit({ consents: [] }, key)).rejects.toMatchObject({ kind: 'invalid' });
    expect((await submit({}, key)).replayed).toBe(false);
  });

  test('a submit that waits in vain is told of its twin, and of nobody else', async () => {
    const key = randomUUID();
    const operation = 'creditlane.applications.v1.ApplicationsService/SubmitApplication';
    const callerId = asIntegration('').identity.subject;
    const { applicationId } = application;
    await world.sql.query('BEGIN');
    try {
      await world.sql.query('SELECT FROM applications WHERE id = $1 FOR UPDATE', [applicationId]);
      await expect(submit({}, key)).rejects.toMatchObject({ kind: 'unavailable', retryAfterS: 1 });
      await announceRequest(world.sql, {
        callerId,
        operation,
        key,
        requestDigest: Buffer.alloc(32),
      });
      await expect(submit({}, key)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    } finally {
      await world.sql.query('ROLLBACK');
    }
    expect((await submit({}, key)).replayed).toBe(false);
  });
});
