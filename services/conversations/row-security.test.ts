import { randomUUID } from 'node:crypto';
import type { RowScope } from '@creditlane/postgres/row-security/request-pool';
import {
  findBreachesBetween,
  listUnsecuredTables,
  listUpdatedColumns,
} from '@creditlane/service/test-row-security';
import { expect, test } from 'vitest';
import { findComments } from './store/conversations.ts';
import {
  commentAsCreditor,
  commentAsRetailer,
  submitNew,
  type TestSubmission,
  useSubmission,
} from './test-conversations.ts';

const fixture = useSubmission();

/** A comment of each side on a new submission, with stored answers of `caller`. */
async function commentOnNew(caller: string): Promise<TestSubmission> {
  const { service } = fixture;
  const submission = submitNew(service);
  const options = { subject: caller, idempotencyKey: 'key' };
  await commentAsCreditor(service, submission, 'x', options);
  await commentAsRetailer(service, submission, 'y', options);
  return submission;
}

test('every table is under row security, or out of the reach of requests', async () => {
  expect(await listUnsecuredTables(fixture.service.database)).toEqual({
    // TypeORM's list of the migrations that were run.
    migrations: [],
  });
});

test('a request changes nothing of a comment but its delivery, and nothing of a conversation but its sequence', async () => {
  const { database } = fixture.service;
  const delivery = ['delivered_at', 'delivered_to_integration_id'];
  expect(await listUpdatedColumns(database, 'comments')).toEqual(delivery);
  expect(await listUpdatedColumns(database, 'conversations')).toEqual(['last_seq']);
});

test.each(['creditors', 'retailers'] as const)(
  'without their filter, statements of %s reach no row of another',
  async (side) => {
    expect(await findBreachesBetween(side, fixture.service.database, commentOnNew)).toEqual([]);
  },
);

test('a query whose own filter admits every tenant finds only the conversation of the scope', async () => {
  const { requests } = fixture.service.database;
  const submission = await commentOnNew(randomUUID());
  const { creditorId, retailerId } = submission;
  const countIn = async (scope: RowScope) => {
    const everyone = { creditorId, retailerId };
    const page = { before: 100, limit: 10 };
    return (await findComments(requests.within(scope), submission, everyone, page))?.length;
  };
  expect(await countIn({ creditors: [creditorId] })).toBe(2);
  expect(await countIn({ retailers: [retailerId] })).toBe(2);
  expect(await countIn({ creditors: [retailerId], retailers: [creditorId] })).toBeUndefined();
  expect(await countIn({})).toBeUndefined();
});
