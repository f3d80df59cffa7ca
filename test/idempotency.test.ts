import { randomUUID } from 'node:crypto';
import type { Client, OperationInput } from '@creditlane/client';
import { makeApplication, makeSubmission } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SubmissionIds } from './platform/api-client.ts';
import { openTestPlatform } from './platform/shared-platform.ts';
import type { TestPlatform } from './platform/test-platform.ts';

type ApplicationBody = OperationInput<'createApplication'>['body'];
type SubmissionBody = OperationInput<'submitApplication'>['body'];

describe('a write that is repeated with its Idempotency-Key has one effect', () => {
  let platform: TestPlatform;
  let client: Client;
  let submission: SubmissionIds;
  beforeAll(async () => {
    platform = await openTestPlatform();
  });
  afterAll(() => platform.close());
  beforeEach(async () => {
    client = platform.connect();
    submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.inbox.clear();
  });

  const approve = (key: string, interestRate: unknown = 5) =>
    client.recordDecision({
      path: submission,
      body: {
        applicationId: submission.applicationId,
        decision: 'APPROVED',
        interestRate: interestRate as number,
      },
      header: { 'Idempotency-Key': key },
    });

  const countDecisions = async () =>
    (await client.listDecisions({ path: submission })).body.data.length;

  test('a repetition with the same key and body returns the stored answer and sends no second webhook', async () => {
    const key = randomUUID();
    const first = await approve(key);
    const repeated = await approve(key);

    expect([first.replayed, repeated.replayed]).toEqual([false, true]);
    expect(repeated.status).toBe(first.status);
    expect(repeated.body).toEqual(first.body);
    expect(await countDecisions()).toBe(2);
    await platform.settle();
    expect(await platform.inbox.list()).toHaveLength(1);
  });

  test('twenty requests at once with the same key record one decision and get the same answer', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(key)));

    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    // All are, when the client has repeated the request that recorded the decision because its answer was late.
    expect(answers.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
    expect(await countDecisions()).toBe(2);
  });

  test('a key reused with another body is refused with 422 and records nothing', async () => {
    const key = randomUUID();
    await approve(key, 5);
    await expect(approve(key, 6)).rejects.toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    });
    expect(await countDecisions()).toBe(2);
  });

  test('a key whose request was refused can be used again', async () => {
    const key = randomUUID();
    await expect(approve(key, 'five')).rejects.toMatchObject({ status: 400 });
    expect((await approve(key)).status).toBe(200);
  });

  test('an application created or submitted twice with one idempotency key exists once and sends one webhook', async () => {
    const { demo } = platform;
    const header = { 'Idempotency-Key': randomUUID() };
    const application = makeApplication(demo.retailerId) as ApplicationBody;
    const create = () => client.createApplication({ body: application, header });
    const [first, repeated] = [await create(), await create()];
    expect([first.replayed, repeated.replayed]).toEqual([false, true]);
    expect(repeated.body).toEqual(first.body);

    const { applicationId, primaryApplicant } = first.body;
    const ids = { ...demo, applicantId: primaryApplicant.applicantId };
    const submission = makeSubmission(ids) as SubmissionBody;
    const submit = () =>
      client.submitApplication({ path: { applicationId }, body: submission, header });
    const [submitted, resubmitted] = [await submit(), await submit()];
    expect([submitted.replayed, resubmitted.replayed]).toEqual([false, true]);
    expect(resubmitted.body).toEqual(submitted.body);
    await platform.settle();
    expect(await platform.inbox.list()).toHaveLength(1);
  });

  test('an integration registered, an API key issued or a destination set twice with one idempotency key exists once', async () => {
    const asPlatform = platform.connect({ apiKey: platform.demo.keys.platform });
    const header = { 'Idempotency-Key': randomUUID() };
    const register = (name: string) => asPlatform.registerIntegration({ body: { name }, header });
    const [registered, repeated] = [await register('Bridge'), await register('Bridge')];
    expect([registered.replayed, repeated.replayed]).toEqual([false, true]);
    expect(repeated.body).toEqual(registered.body);
    await expect(register('Tunnel')).rejects.toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    });

    const { integrationId } = registered.body;
    const issue = () => asPlatform.issueKey({ path: { integrationId }, body: {}, header });
    const [issued, reissued] = [await issue(), await issue()];
    expect([issued.replayed, reissued.replayed]).toEqual([false, true]);
    expect(reissued.body).toEqual(issued.body);

    const body = { url: 'https://hooks.example.com/creditlane' };
    const set = () => asPlatform.setDestination({ path: { integrationId }, body, header });
    const [shown, again] = [await set(), await set()];
    expect([shown.replayed, again.replayed]).toEqual([false, true]);
    expect(again.body).toEqual(shown.body);
    expect(again.body.secret).toMatch(/^whsec_/);
  });

  test('a key of more than 255 characters is refused with a message that names the header', async () => {
    await expect(approve('k'.repeat(256))).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/Idempotency-Key/i),
    });
  });
});
