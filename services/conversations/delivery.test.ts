import { randomUUID } from 'node:crypto';
import type { Comment } from '@creditlane/proto/conversations/v1/comment';
import { expect, test } from 'vitest';
import {
  commentAsCreditor,
  commentAsRetailer,
  inShort,
  readAs,
  useSubmission,
} from './test-conversations.ts';

const fixture = useSubmission();

const read = async (side: 'CREDITOR' | 'RETAILER', options: Parameters<typeof readAs>[3] = {}) =>
  (await readAs(fixture.service, side, fixture.submission, options)).comments;

/** The time and the integration of the first comment's delivery. */
const deliveryOf = ([comment]: Comment[]) => ({
  integrationId: comment?.delivery?.integrationId,
  deliveredAt: comment?.delivery?.deliveredAt,
});

test("a comment stays queued while its own side reads, and the other side's first reading delivers it", async () => {
  const { service, submission } = fixture;
  await commentAsRetailer(service, submission, 'one');
  await commentAsCreditor(service, submission, 'two');
  expect((await read('RETAILER')).map(inShort)).toEqual([
    'CREDITOR two: DELIVERED',
    'RETAILER one: QUEUED',
  ]);
  expect((await read('CREDITOR')).map(inShort)).toEqual([
    'CREDITOR two: DELIVERED',
    'RETAILER one: DELIVERED',
  ]);
});

test('a delivered comment keeps the time and the integration of its first delivery', async () => {
  await commentAsRetailer(fixture.service, fixture.submission, 'x');
  const subject = randomUUID();
  const first = deliveryOf(await read('CREDITOR', { subject }));
  expect(first).toEqual({ integrationId: subject, deliveredAt: expect.anything() });
  expect(deliveryOf(await read('CREDITOR', { subject: randomUUID() }))).toEqual(first);
  expect(deliveryOf(await read('RETAILER'))).toEqual(first);
});

test('ten readers at once see one and the same delivery', async () => {
  const { service, submission } = fixture;
  await commentAsRetailer(service, submission, 'one');
  await commentAsRetailer(service, submission, 'two');
  const readers = Array.from({ length: 10 }, () => read('CREDITOR', { subject: randomUUID() }));
  const deliveries = (await Promise.all(readers)).map((comments) => comments.map(inDetail));
  for (const delivery of deliveries) expect(delivery).toEqual(deliveries[0]);
  expect((await read('RETAILER')).map(inDetail)).toEqual(deliveries[0]);
});

const inDetail = (comment: Comment) => [inShort(comment), deliveryOf([comment])];

test('only the comments of the answered page are delivered', async () => {
  const { service, submission } = fixture;
  for (const text of ['one', 'two', 'three']) await commentAsRetailer(service, submission, text);
  await read('CREDITOR', { limit: 2 });
  expect((await read('RETAILER')).map(inShort)).toEqual([
    'RETAILER three: DELIVERED',
    'RETAILER two: DELIVERED',
    'RETAILER one: QUEUED',
  ]);
});

test('an answer that is discarded delivers nothing', async () => {
  await commentAsRetailer(fixture.service, fixture.submission, 'x');
  await read('CREDITOR', { discarded: true });
  expect((await read('RETAILER')).map(inShort)).toEqual(['RETAILER x: QUEUED']);
});

const DAMAGE = `UPDATE comments SET sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1)
     WHERE id = ANY ($1)`;

test('a comment whose bytes were damaged is left out and logged, also when it is alone on its page', async () => {
  const { service, submission } = fixture;
  for (const text of ['one', 'two', 'three']) await commentAsRetailer(service, submission, text);
  const [, damaged] = await read('RETAILER');
  await service.sql.query(DAMAGE, [[damaged?.id]]);
  const first = await readAs(service, 'CREDITOR', submission, { limit: 2 });
  const { nextCursor: cursor } = first;
  const second = await readAs(service, 'CREDITOR', submission, { limit: 2, cursor });
  const shown = [...first.comments, ...second.comments].map(inShort);
  expect(shown).toEqual(['RETAILER three: DELIVERED', 'RETAILER one: DELIVERED']);
  expect(second.nextCursor).toBe('');
  expect(service.log.join()).toContain(`"commentId":"${damaged?.id}"`);
  const pages = await readPages(1);
  expect(pages.map((page) => page.map(({ comment }) => comment))).toEqual([['three'], [], ['one']]);
});

test('a conversation none of whose newest comments can be decrypted cannot be read', async () => {
  const { service, submission } = fixture;
  for (const text of ['one', 'two']) await commentAsRetailer(service, submission, text);
  await service.sql.query(DAMAGE, [(await read('RETAILER')).map(({ id }) => id)]);
  for (const limit of [1, 25]) {
    const page = readAs(service, 'CREDITOR', submission, { limit });
    await expect(page).rejects.toMatchObject({ kind: 'internal' });
  }
});

test('damaged comments among long ones: every other comment is on a page', async () => {
  const { service, submission } = fixture;
  const texts = Array.from({ length: 30 }, (_, index) => `${index} ${'😀'.repeat(9_990)}`);
  const ids: string[] = [];
  for (const text of texts) ids.push((await commentAsCreditor(service, submission, text)).id);
  const isDamaged = (index: number) => index === 25 || index === 28;
  await service.sql.query(DAMAGE, [ids.filter((_, index) => isDamaged(index))]);
  const shown = (await readPages(100)).flat().map(({ comment }) => comment.split(' ')[0]);
  const others = [...texts.keys()].filter((index) => !isDamaged(index));
  expect(shown).toEqual(others.toReversed().map(String));
});

/** The comments of every page, read by cursors from the newest to the oldest. */
async function readPages(limit: number): Promise<Comment[][]> {
  const pages: Comment[][] = [];
  let cursor = '';
  do {
    const page = await readAs(fixture.service, 'RETAILER', fixture.submission, { limit, cursor });
    pages.push(page.comments);
    cursor = page.nextCursor;
  } while (cursor !== '');
  return pages;
}
