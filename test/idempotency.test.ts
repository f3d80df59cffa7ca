import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decisionPath, type SubmissionIds } from './platform/api-client.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

describe('a write that is repeated with its Idempotency-Key has one effect', () => {
  let platform: TestPlatform;
  let submission: SubmissionIds;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.close());
  beforeEach(async () => {
    submission = await platform.submitNewApplication();
    await platform.settle();
    await platform.inbox.clear();
  });

  const approve = (key: string, interestRate = 5) =>
    platform.recordDecision(
      submission,
      { decision: 'APPROVED', interestRate },
      { 'idempotency-key': key },
    );

  const countDecisions = async () =>
    (await platform.api.get(`${decisionPath(submission)}s`)).body.data.length;

  test('a repetition with the same key and body returns the stored answer and sends no second webhook', async () => {
    const key = randomUUID();
    const first = await approve(key);
    const repeated = await approve(key);

    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
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
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(19);
    expect(await countDecisions()).toBe(2);
  });

  test('a key reused with another body is refused with 422 and records nothing', async () => {
    const key = randomUUID();
    await approve(key, 5);
    const other = await approve(key, 6);
    expect(other.status).toBe(422);
    expect(other.body.code).toBe('idempotency_key_reused');
    expect(await countDecisions()).toBe(2);
  });

  test('a key whose request was refused can be used again', async () => {
    const key = randomUUID();
    const refused = await platform.recordDecision(
      submission,
      { decision: 'APPROVED', interestRate: 'five' },
      { 'idempotency-key': key },
    );
    expect(refused.status).toBe(400);
    expect((await approve(key)).status).toBe(200);
  });

  test('an application created or submitted twice with one idempotency key exists once and sends one webhook', async () => {
    const application = makeApplication(platform.demo.retailerId);
    const headers = { 'idempotency-key': randomUUID() };
    const create = () => platform.api.post('/applications', application, { headers });
    const [first, repeated] = [await create(), await create()];
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body).toEqual(first.body);

    const submitted = await platform.submit(first.body, headers);
    const resubmitted = await platform.submit(first.body, headers);
    expect(resubmitted.status).toBe(submitted.status);
    expect(resubmitted.headers.get('idempotent-replayed')).toBe('true');
    expect(resubmitted.body).toEqual(submitted.body);
    await platform.settle();
    expect(await platform.inbox.list()).toHaveLength(1);
  });

  test('an integration registered, or an API key issued, twice with one idempotency key exists once', async () => {
    const asPlatform = {
      key: platform.demo.keys.platform,
      headers: { 'idempotency-key': randomUUID() },
    };
    const register = (name: string) =>
      platform.api.post('/platform/integrations', { name }, asPlatform);
    const [registered, repeated] = [await register('Bridge'), await register('Bridge')];
    expect(registered.headers.get('idempotent-replayed')).toBeNull();
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body).toEqual(registered.body);
    const other = await register('Tunnel');
    expect(other.status).toBe(422);
    expect(other.body.code).toBe('idempotency_key_reused');

    const issue = () =>
      platform.api.post(
        `/platform/integrations/${registered.body.integrationId}/keys`,
        {},
        asPlatform,
      );
    const [issued, reissued] = [await issue(), await issue()];
    expect(reissued.headers.get('idempotent-replayed')).toBe('true');
    expect(reissued.body).toEqual(issued.body);
  });

  test('a key of more than 255 characters is refused with a message that names the header', async () => {
    const answer = await approve('k'.repeat(256));
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/Idempotency-Key/i);
  });
});
