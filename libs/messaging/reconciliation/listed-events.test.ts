import { randomUUID } from 'node:crypto';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import type { Source } from './reconciler.ts';
import { AFTER_TRANSACTIONS, idOf, openSource, writeEvent } from './test-reconciliation.ts';

let db: OpenTestDatabase;
let source: Source;
beforeAll(async () => {
  db = await openMessagingTestDatabase('listed_events');
  source = await openSource(db);
});
afterAll(() => db?.close());

test('a position of no earlier answer is refused', async () => {
  const { signal } = new AbortController();
  await expect(source.list('1; DROP TABLE outbox', signal)).rejects.toThrow();
  expect((await source.list(`0/${randomUUID()}`, signal)).eventIds).toEqual([]);
});

test('no position passes an event that is written by a transaction under way, however long it takes', async () => {
  const list = (position: string) => source.list(position, new AbortController().signal);
  const writer = await db.pool.connect();
  try {
    const first = await writeEvent(db.pool);
    await writer.query('BEGIN');
    const slow = await writeEvent(writer);
    const fast = await writeEvent(db.pool);
    const { position } = await list('');
    expect(position).toMatch(/^[01]\//);
    const part = await list(position.replace(/^1/, '0'));
    expect(part.eventIds).toEqual([idOf(first)]);
    await writer.query('COMMIT');
    await expect
      .poll(async () => (await list(part.position)).eventIds)
      .toEqual([slow, fast].map(idOf));
    await expect.poll(async () => (await list('')).position, AFTER_TRANSACTIONS).toMatch(/^3\//);
  } finally {
    writer.release(true);
  }
});
