import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Caller } from '@creditlane/proto/common/v1/access';
import { CommentSchema, DeliveryState, Side } from '@creditlane/proto/conversations/v1/comment';
import { invalid } from '@creditlane/rpc/fault';
import { newId } from '@creditlane/runtime/ids';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway } from '../test-gateway.ts';

const gateway = await startTestGateway();
const { ids } = gateway;
beforeEach(() => {
  gateway.services.failures.clear();
  gateway.services.calls.length = 0;
});
afterAll(gateway.close);

const PERMISSION = 'ENQUEUE_RETAILER_CHAT';
const pathOf = (end: string, application = ids.application, creditor = ids.creditor) =>
  `/v1/applications/${application}/creditors/${creditor}/${end}`;

/** A key of a new integration with the permission, and a grant on the retailer unless told otherwise. */
function issueChatKey({ granted = [ids.retailer], permissions = [PERMISSION] } = {}): string {
  const id = newId();
  for (const record of granted) gateway.services.grants.add(`${id} ${record}`);
  return gateway.services.issue(Caller.INTEGRATION, id, permissions);
}

describe('commentAsCreditor', () => {
  const comment = (body: unknown) => gateway.send('POST', pathOf('comment'), { body });

  test('passes on the comment as given, and answers with its id and time', async () => {
    const body = { userName: 'Ines Okafor', comment: '  Two\nlines ☎  ' };
    const answer = await comment(body);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      id: expect.any(String),
      createdAt: '2026-03-02T15:04:05.678Z',
    });
    const [made] = gateway.services.called('commentAsCreditor');
    expect(made?.request).toMatchObject(body);
    expect(made?.call.identity).toMatchObject({ creditorId: ids.creditor });
  });

  test.each([
    { name: 'no userName', body: { comment: 'x' }, pointer: '/userName' },
    { name: 'a blank userName', body: { userName: ' ', comment: 'x' }, pointer: '/userName' },
    {
      name: 'a userName of 201 characters',
      body: { userName: 'x'.repeat(201), comment: 'x' },
      pointer: '/userName',
    },
    { name: 'no comment', body: { userName: 'Ines' }, pointer: '/comment' },
    { name: 'an empty comment', body: { userName: 'Ines', comment: '' }, pointer: '/comment' },
    {
      name: 'a comment of white space',
      body: { userName: 'Ines', comment: ' \n\u00a0' },
      pointer: '/comment',
    },
    {
      name: 'a comment of 10,001 characters',
      body: { userName: 'Ines', comment: 'x'.repeat(10_001) },
      pointer: '/comment',
    },
    { name: 'a number as comment', body: { userName: 'Ines', comment: 7 }, pointer: '/comment' },
  ])('with $name is 400, named as $pointer', async ({ body, pointer }) => {
    const answer = await comment(body);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0].pointer).toBe(pointer);
    expect(gateway.services.called('commentAsCreditor')).toEqual([]);
  });

  test('with 10,000 characters outside the basic plane is accepted', async () => {
    const answer = await comment({ userName: 'Ines', comment: '😀'.repeat(10_000) });
    expect(answer.status).toBe(200);
  });

  test("is refused with the service's code as 400", async () => {
    const archived = () => invalid('application_archived', 'The application is archived.');
    gateway.services.failures.set('commentAsCreditor', archived);
    const answer = await comment({ userName: 'Ines', comment: 'x' });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('application_archived');
  });
});

describe('commentAsRetailerUser', () => {
  const body = { userId: newId(), comment: 'On its way.' };
  const comment = (key: string, path = pathOf('retailer-comment'), headers = {}) =>
    gateway.send('POST', path, { key, body, headers });

  test('is 204 without a body, and the retailer is the scope of the call', async () => {
    const answer = await comment(issueChatKey());
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    const [made] = gateway.services.called('commentAsRetailerUser');
    expect(made?.request).toMatchObject(body);
    expect(made?.call.identity).toMatchObject({
      retailerId: ids.retailer,
      permissions: [PERMISSION],
    });
  });

  test('that is a repetition says so', async () => {
    const headers = { 'Idempotency-Key': 'replayed' };
    const answer = await comment(issueChatKey(), undefined, headers);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
  });

  test('without the permission is 403 before any record is looked up', async () => {
    const key = issueChatKey({ permissions: [] });
    const answer = await comment(key, pathOf('retailer-comment', newId()));
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ status: 403, code: 'permission_missing' });
    expect(gateway.services.calls.map(({ method }) => method)).toEqual(['authenticate']);
  });

  test("on an application of a retailer that is not granted is 403, and the service isn't called", async () => {
    const path = pathOf('retailer-comment', ids.otherApplication, ids.otherCreditor);
    const answer = await comment(issueChatKey(), path);
    expect(answer.status).toBe(403);
    expect(answer.json.code).toBe('retailer_access_denied');
    // A grant on the creditor does not replace the retailer's.
    const asCreditor = await comment(issueChatKey({ granted: [ids.creditor] }));
    expect(asCreditor.json.code).toBe('retailer_access_denied');
    expect(gateway.services.called('commentAsRetailerUser')).toEqual([]);
  });

  test('on an application that does not exist is left to the service, without a scope', async () => {
    await comment(issueChatKey(), pathOf('retailer-comment', newId()));
    const [made] = gateway.services.called('commentAsRetailerUser');
    expect(made?.call.identity).not.toHaveProperty('retailerId');
  });

  test('is 403 where X-Service-Retailer-ID names a retailer without a grant or of another group', async () => {
    const second = newId();
    const key = issueChatKey({ granted: [ids.retailer, second] });
    const inContext = (retailerId: string, application = ids.application) =>
      comment(key, pathOf('retailer-comment', application), {
        'X-Service-Retailer-ID': retailerId,
      });
    for (const retailerId of [ids.otherRetailer, newId(), second]) {
      const { json } = await inContext(retailerId);
      expect(json.code).toBe('retailer_access_denied');
      // The second retailer is granted: the application is what it does not have.
      expect(json.message).toMatch(/^X-Service-Retailer-ID names a retailer .* or whose group/);
    }
    expect((await inContext(newId(), newId())).json.code).toBe('retailer_access_denied');
    expect((await inContext(ids.retailer)).status).toBe(204);
    // The retailer is granted, so the application alone is missing.
    expect((await inContext(second, newId())).status).toBe(204);
    expect(gateway.services.called('commentAsRetailerUser')).toHaveLength(2);
  });

  test.each([
    { name: 'no userId', wrong: { userId: undefined }, pointer: '/userId' },
    { name: 'a userId that is no UUID', wrong: { userId: 'noor' }, pointer: '/userId' },
    { name: 'a blank comment', wrong: { comment: '\t' }, pointer: '/comment' },
  ])('with $name is 400, named as $pointer', async ({ wrong, pointer }) => {
    const path = pathOf('retailer-comment');
    const request = { key: issueChatKey(), body: { ...body, ...wrong } };
    const answer = await gateway.send('POST', path, request);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0].pointer).toBe(pointer);
  });
});

describe('getConversation', () => {
  const createdAt = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
  const author = { userName: 'Ines Okafor' };
  const comment = { id: newId(), side: Side.CREDITOR, comment: 'x', createdAt };
  const written = { ...comment, author, integrationId: ids.integration };
  const read = (headers = {}) => gateway.send('GET', pathOf('conversation'), { headers });

  test('shows each comment with its delivery, and leaves out what is not set', async () => {
    gateway.services.comments.push(
      create(CommentSchema, { ...written, delivery: { state: DeliveryState.QUEUED } }),
      create(CommentSchema, {
        ...written,
        side: Side.RETAILER,
        author: { userName: 'Noor Singh', userId: ids.retailer },
        delivery: {
          state: DeliveryState.DELIVERED,
          deliveredAt: createdAt,
          integrationId: ids.integration,
        },
      }),
    );
    const answer = await read();
    expect(answer.status).toBe(200);
    const common = {
      id: comment.id,
      comment: 'x',
      createdAt: '2026-03-02T15:04:05.678Z',
      integrationId: ids.integration,
    };
    expect(answer.json).toEqual({
      data: [
        { ...common, side: 'CREDITOR', author, delivery: { state: 'QUEUED' } },
        {
          ...common,
          side: 'RETAILER',
          author: { userName: 'Noor Singh', userId: ids.retailer },
          delivery: {
            state: 'DELIVERED',
            deliveredAt: common.createdAt,
            integrationId: ids.integration,
          },
        },
      ],
      nextCursor: 'next',
    });
  });

  test('reads as the creditor, and with X-Service-Retailer-ID as the retailer', async () => {
    await read();
    await read({ 'X-Service-Retailer-ID': ids.retailer });
    const [asCreditor, asRetailer] = gateway.services
      .called('getConversation')
      .map(({ call }) => call.identity);
    expect(asCreditor).toMatchObject({ creditorId: ids.creditor });
    expect(asRetailer).toMatchObject({ retailerId: ids.retailer });
    expect(asRetailer).not.toHaveProperty('creditorId');
  });

  test('passes on limit and cursor; HEAD discards the comments', async () => {
    await gateway.send('GET', `${pathOf('conversation')}?limit=2&cursor=abc`);
    await gateway.send('HEAD', pathOf('conversation'));
    const requests = gateway.services.called('getConversation').map(({ request }) => request);
    expect(requests).toMatchObject([
      { limit: 2, cursor: 'abc', discarded: false },
      { limit: 1, cursor: '', discarded: true },
    ]);
  });
});
