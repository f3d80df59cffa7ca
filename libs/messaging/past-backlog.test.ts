// The queue of the outbox keeps the pages of its longest backlog: what looks at all that waits must not read them.
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { appendToOutbox, hasUnpublishedEvents, unpublishedSql } from './outbox.ts';
import { openMessagingTestDatabase } from './test-messaging-database.ts';
import { decisionEvent, recordingBus, startTestRelay } from './test-relay.ts';

/** They had some 500 pages. */
const PAST_EVENTS = 30_000;
const MAX_PAGES = 100;

let db: OpenTestDatabase;
beforeEach(async () => {
  db = await openMessagingTestDatabase('past_backlog');
  onTestFinished(() => db.close());
  await db.pool.query(
    `INSERT INTO outbox (shard, topic, key, type, payload)
     SELECT n % 4, 'creditlane.decisions.v1', 'key ' || n, 'creditlane.decisions.v1.DecisionRecorded', '{}'
     FROM generate_series(1, ${PAST_EVENTS}) AS n`,
  );
  await db.pool.query('UPDATE outbox SET published_at = now()');
  await db.pool.query('VACUUM (ANALYZE) outbox_waiting');
});

test('after a long backlog, few pages are read to know that no event waits', async () => {
  const sent = watchSentQueries();
  expect(await hasUnpublishedEvents(db.pool)).toBe(false);
  expect(await countPages(sent().find(({ name }) => name === 'outbox_any')?.text)).toBeLessThan(
    MAX_PAGES,
  );
});

test('after a long backlog, few pages are read for the metrics of the events that wait', async () => {
  await appendToOutbox(db.pool, [decisionEvent('one', 1), decisionEvent('another', 1)]);
  const bus = recordingBus();
  bus.accept = () => Promise.reject(new Error('away'));
  startTestRelay(db, bus);
  const sent = watchSentQueries();
  expect(await db.metrics.text()).toContain('creditlane_outbox_depth{source="decisions"} 2');
  expect(await countPages(sent().find(({ name }) => name === 'outbox_backlog')?.text)).toBeLessThan(
    MAX_PAGES,
  );
});

test('after a long backlog, few pages are read for the ids of the events that wait', async () => {
  const events = [decisionEvent('one', 1), decisionEvent('another', 1)];
  await appendToOutbox(db.pool, events);
  const text = unpublishedSql('event_id');
  expect((await db.pool.query(text)).rows).toHaveLength(2);
  expect(await countPages(text)).toBeLessThan(MAX_PAGES);
});

async function countPages(text: string | undefined): Promise<number> {
  const { rows } = await db.pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`);
  const { Plan: plan } = rows[0]['QUERY PLAN'][0];
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
