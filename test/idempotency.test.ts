import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decisionPath } from './platform/api-client.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

describe('an Idempotency-Key makes a write safe to repeat', () => {
  let world: TestPlatform;
  let submission: { applicationId: string; creditorId: string };
  beforeAll(async () => {
    world = await startTestPlatform();
  });
  afterAll(() => world.close());
  beforeEach(async () => {
    submission = await world.submitApplication();
    await world.settle();
    await world.inbox.empty();
  });

  const approve = (key: string, interestRate = 5) =>
    world.decide(submission, { decision: 'APPROVED', interestRate }, { 'idempotency-key': key });

  const recorded = async () =>
    (await world.api.get(`${decisionPath(submission)}s`)).body.data.length;

  test('the same key and body has one effect, and the stored answer comes back', async () => {
    const key = randomUUID();
    const first = await approve(key);
    const again = await approve(key);

    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.status).toBe(first.status);
    expect(again.body).toEqual(first.body);
    expect(await recorded()).toBe(2);
    await world.settle();
    expect(await world.inbox.arrivals()).toHaveLength(1);
  });

  test('twenty twins at once have one effect', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(key)));

    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(19);
    expect(await recorded()).toBe(2);
  });

  test('the same key with another body is refused with 422 and changes nothing', async () => {
    const key = randomUUID();
    await approve(key, 5);
    const other = await approve(key, 6);
    expect(other.status).toBe(422);
    expect(other.body.code).toBe('idempotency_key_reused');
    expect(await recorded()).toBe(2);
  });

  test('a refused request does not consume the key', async () => {
    const key = randomUUID();
    const refused = await world.decide(
      submission,
      { decision: 'APPROVED', interestRate: 'five' },
      { 'idempotency-key': key },
    );
    expect(refused.status).toBe(400);
    expect((await approve(key)).status).toBe(200);
  });

  test('creating and submitting an application are safe to repeat too', async () => {
    const application = makeApplication(world.demo.retailerId);
    const headers = { 'idempotency-key': randomUUID() };
    const create = () => world.api.post('/applications', application, { headers });
    const [one, two] = [await create(), await create()];
    expect(two.headers.get('idempotent-replayed')).toBe('true');
    expect(two.body).toEqual(one.body);

    const first = await world.submit(one.body, headers);
    const again = await world.submit(one.body, headers);
    expect(again.status).toBe(first.status);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    await world.settle();
    expect(await world.inbox.arrivals()).toHaveLength(1);
  });

  test('registering an integration and issuing its key are safe to repeat too', async () => {
    const platform = {
      key: world.demo.keys.platform,
      headers: { 'idempotency-key': randomUUID() },
    };
    const register = (name: string) => world.api.post('/platform/integrations', { name }, platform);
    const [one, two] = [await register('Bridge'), await register('Bridge')];
    expect(one.headers.get('idempotent-replayed')).toBeNull();
    expect(two.headers.get('idempotent-replayed')).toBe('true');
    expect(two.body).toEqual(one.body);
    const other = await register('Tunnel');
    expect(other.status).toBe(422);
    expect(other.body.code).toBe('idempotency_key_reused');

    const issue = () =>
      world.api.post(`/platform/integrations/${one.body.integrationId}/keys`, {}, platform);
    const [first, again] = [await issue(), await issue()];
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  test('a key longer than 255 characters is refused with a message that names it', async () => {
    const answer = await approve('k'.repeat(256));
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/Idempotency-Key/i);
  });
});
