import { randomUUID } from 'node:crypto';
import { makeApplication } from '@creditlane/local/demo/demo';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ACCESS_CHANGES_WITHIN_MS } from './platform/access-change.ts';
import type { CallOptions, SubmissionIds } from './platform/api-client.ts';
import { eventually } from './platform/eventually.ts';
import { startTestPlatform, type TestPlatform } from './platform/test-platform.ts';

let submission: SubmissionIds;
let platform: TestPlatform;
afterAll(() => platform.close());
beforeAll(async () => {
  platform = await startTestPlatform();
});
beforeEach(async () => {
  submission = await platform.submitNewApplication();
});

const pathOf = ({ applicationId, creditorId }: SubmissionIds, end: string) =>
  `/applications/${applicationId}/creditors/${creditorId}/${end}`;

const commentAsCreditor = (comment: string, options?: CallOptions) => {
  const body = { userName: 'Ines Okafor', comment };
  return platform.api.post(pathOf(submission, 'comment'), body, options);
};

const commentAsRetailer = (comment: string, options: CallOptions & { userId?: string } = {}) => {
  const { userId = platform.demo.users.active, ...others } = options;
  const body = { userId, comment };
  return platform.api.post(pathOf(submission, 'retailer-comment'), body, others);
};

const read = (query = '', options?: CallOptions) =>
  platform.api.get(pathOf(submission, `conversation${query}`), options);

const asRetailer = () => ({ headers: { 'x-service-retailer-id': platform.demo.retailerId } });

describe('the conversation of a submission', () => {
  test('has the comments of both sides, each with author, side, text, time and delivery', async () => {
    const question = await commentAsCreditor(' A pay stub,\nplease ');
    expect(question.status).toBe(200);
    const answer = await commentAsRetailer('On its way ☎');
    expect(answer).toMatchObject({ status: 204, body: undefined });

    const { integrationId, users } = platform.demo;
    const delivered = { state: 'DELIVERED', integrationId, deliveredAt: expect.any(String) };
    const expected = [
      {
        id: expect.any(String),
        side: 'RETAILER',
        author: { userName: 'Noor Singh', userId: users.active },
        comment: 'On its way ☎',
        createdAt: expect.any(String),
        integrationId,
        delivery: { state: 'QUEUED' },
      },
      {
        id: question.body.id,
        side: 'CREDITOR',
        author: { userName: 'Ines Okafor' },
        comment: ' A pay stub,\nplease ',
        createdAt: question.body.createdAt,
        integrationId,
        delivery: delivered,
      },
    ];
    const forRetailer = await read('', asRetailer());
    expect(forRetailer.body).toEqual({ data: expected, nextCursor: null });
    const forCreditor = await read();
    expect(forCreditor.body.data.map((it: { delivery: object }) => it.delivery)).toEqual([
      delivered,
      forRetailer.body.data[1].delivery,
    ]);
  });

  test('is delivered to an integration of the creditor only when that one has read it', async () => {
    const { keys } = platform.demo;
    await commentAsRetailer('Hello');
    await read('', asRetailer());
    await platform.api.call('HEAD', pathOf(submission, 'conversation'), {
      key: keys.withoutChat,
    });
    const [queued] = (await read('', asRetailer())).body.data;
    expect(queued.delivery).toEqual({ state: 'QUEUED' });
    const [first] = (await read('', { key: keys.withoutChat })).body.data;
    expect(first.delivery.state).toBe('DELIVERED');
    expect(first.delivery.integrationId).not.toBe(platform.demo.integrationId);
    const [later] = (await read()).body.data;
    expect(later.delivery).toEqual(first.delivery);
  });

  test('is read page by page, newest first', async () => {
    for (const text of ['one', 'two', 'three']) await commentAsCreditor(text);
    const texts = ({ body }: Awaited<ReturnType<typeof read>>) =>
      body.data.map(({ comment }: { comment: string }) => comment);
    const first = await read('?limit=2');
    expect(texts(first)).toEqual(['three', 'two']);
    const second = await read(`?limit=2&cursor=${first.body.nextCursor}`);
    expect(texts(second)).toEqual(['one']);
    expect(second.body.nextCursor).toBeNull();
  });
});

test('a comment repeated with its Idempotency-Key is added once', async () => {
  for (const comment of [commentAsCreditor, commentAsRetailer]) {
    const options = { headers: { 'idempotency-key': randomUUID() } };
    const first = await comment('Hello', options);
    const repeated = await comment('Hello', options);
    expect(repeated).toMatchObject({ status: first.status, body: first.body });
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect((await comment('Goodbye', options)).status).toBe(422);
  }
  expect((await read()).body.data).toHaveLength(2);
});

describe("a comment on behalf of a retailer's user", () => {
  test('is accepted of active users of the retailer and of its group, and of no others', async () => {
    const { active, group, inactive, foreign } = platform.demo.users;
    for (const userId of [active, group, group.toUpperCase()]) {
      expect((await commentAsRetailer('x', { userId })).status).toBe(204);
    }
    for (const userId of [inactive, foreign, randomUUID()]) {
      const { status, body } = await commentAsRetailer('x', { userId });
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'ineligible_user', errors: [{ pointer: '/userId' }] });
    }
  });

  test('is 401 without a key, and 403 without the permission', async () => {
    expect((await commentAsRetailer('x', { key: null })).status).toBe(401);
    const { status, body } = await commentAsRetailer('x', { key: platform.demo.keys.withoutChat });
    expect(status).toBe(403);
    expect(body).toMatchObject({ status: 403, code: 'permission_missing' });
  });

  test("is 403 on another tenant's application, and in the context of another tenant's retailer", async () => {
    const { otherTenant } = platform.demo;
    const foreign = await commentAsRetailer('x', { key: otherTenant.key });
    expect(foreign.status).toBe(403);
    expect(foreign.body).toMatchObject({ status: 403, code: 'retailer_access_denied' });
    for (const retailerId of [otherTenant.retailerId, randomUUID()]) {
      const headers = { 'x-service-retailer-id': retailerId };
      const inContext = await commentAsRetailer('x', { headers });
      expect(inContext.body.code).toBe('retailer_access_denied');
    }
    expect((await commentAsRetailer('x', asRetailer())).status).toBe(204);
  });

  test('is 404 for an unknown application, and for every creditor without the application', async () => {
    const known = submission;
    submission = { ...known, applicationId: randomUUID() };
    const unknown = await commentAsRetailer('x');
    expect(unknown).toMatchObject({ status: 404, body: { code: 'application_not_found' } });
    for (const creditorId of [randomUUID(), platform.demo.otherTenant.creditorId]) {
      submission = { ...known, creditorId };
      const { status, body } = await commentAsRetailer('x');
      expect(status).toBe(404);
      expect(body.code).toBe('conversation_not_found');
    }
  });

  test('is 400 on an application that was never submitted', async () => {
    const { retailerId, creditorId } = platform.demo;
    const created = await platform.api.post('/applications', makeApplication(retailerId));
    submission = { applicationId: created.body.applicationId, creditorId };
    const { status, body } = await commentAsRetailer('x');
    expect(status).toBe(400);
    expect(body.code).toBe('application_not_submitted');
  });

  test.each(['', ' ', '\n\t\u00a0'])('is 400 without a visible text (%j)', async (text) => {
    const { status, body } = await commentAsRetailer(text);
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ pointer: '/comment' }]);
    expect((await read()).body.data).toEqual([]);
  });
});

test('an archived application takes no comments of either side at once, and stays readable', async () => {
  const headers = { 'idempotency-key': randomUUID() };
  await commentAsRetailer('Hello', { headers });
  const archived = await platform.api.post(
    `/applications/${submission.applicationId}/archive`,
    undefined,
  );
  expect(archived.status).toBe(200);
  for (const refused of [await commentAsRetailer('x'), await commentAsCreditor('x')]) {
    expect(refused).toMatchObject({ status: 400, body: { code: 'application_archived' } });
  }
  // The first answer of a comment that was accepted before.
  expect((await commentAsRetailer('Hello', { headers })).status).toBe(204);
  expect((await read()).body.data).toHaveLength(1);
});

test('an integration that is disabled for the creditor comments as the creditor no more, until enabled', async () => {
  const { creditorId, keys } = platform.demo;
  const key = keys.withoutChat;
  const post = (operation: string, body: object = {}) =>
    platform.api.post(`/creditors/${operation}`, { creditorId, ...body }, { key });
  const untilAnswered = (status: number) =>
    eventually(
      `${status} to a comment`,
      async () => {
        const answer = await commentAsCreditor('x', { key });
        return answer.status === status ? answer : undefined;
      },
      ACCESS_CHANGES_WITHIN_MS,
    );
  await untilAnswered(200);
  expect((await post('disable-integration')).status).toBe(200);
  expect((await untilAnswered(400)).body.code).toBe('submission_not_found');
  await post('integration-status', { status: 'REQUESTED' });
  expect((await post('enable-integration')).status).toBe(200);
  await untilAnswered(200);
});
