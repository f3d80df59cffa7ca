import { capturingClient, type SentQuery } from '@creditlane/postgres/test-capturing-client';
import type { TestDatabase } from '@creditlane/postgres/test-database';
import { watchSentQueries } from '@creditlane/postgres/test-sent-queries';
import { firstIdOfTime, newId } from '@creditlane/runtime/ids';
import { newIdOfTime } from '@creditlane/runtime/ids/test-id-of-time';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertDeliveries, openDispatcherDatabase } from '../../test-deliveries.ts';
import { findTooFewDeliveries } from './expected-deliveries.ts';

const EVENTS = 1_000;
let db: TestDatabase;
beforeAll(async () => {
  db = await openDispatcherDatabase();
});
afterAll(() => db.drop());

/** Inserts a delivery of each event, which has ended at that time. */
const insertEnded = (eventIds: readonly string[], settledAt = new Date()) =>
  insertDeliveries(
    db.sql,
    eventIds.map((eventId) => ({ eventId, state: 'delivered', settledAt })),
  );

test('the deliveries of many events are compared by reading each index once', async () => {
  const ids = Array.from({ length: EVENTS }, () => newId());
  await db.sql.query(
    `INSERT INTO inbox (consumer, event_id, expected_effects)
     SELECT 'webhook-dispatcher', id, 1 FROM unnest($1::uuid[]) AS event (id)`,
    [ids],
  );
  await insertEnded(ids.slice(1));
  await db.sql.query('VACUUM (ANALYZE) inbox, deliveries');
  // One that the inbox does not have, and one of an event without recipients.
  const others = [newId(), firstIdOfTime(0)];
  expect(await findTooFewDeliveries(db.sql, [...ids, ...others])).toEqual([ids[0]]);
  // A subquery for each event read 12,000 blocks.
  expect(await blocksRead(ids)).toBeLessThan(EVENTS);
});

const DAY_MS = 86_400_000;

test.each([
  ['ahead', 1],
  ['behind', -1],
])(
  'of events by a writer whose clock is more than a day %s, those with too few deliveries are found, also days later',
  async (_, sign) => {
    const writtenMs = Date.now() - 3 * DAY_MS;
    const idOfWriter = () => newIdOfTime(writtenMs + sign * 1.1 * DAY_MS);
    const [delivered, tooFew] = [idOfWriter(), idOfWriter()];
    await db.sql.query(
      `INSERT INTO inbox (consumer, event_id, expected_effects)
     SELECT 'webhook-dispatcher', id, 2 FROM unnest($1::uuid[]) AS event (id)`,
      [[delivered, tooFew]],
    );
    await insertEnded([delivered, delivered, tooFew], new Date(writtenMs));
    expect(await findTooFewDeliveries(db.sql, [delivered, tooFew])).toEqual([tooFew]);
  },
);

test('an event that is known to have too few deliveries is not looked up in all days again, and found complete later', async () => {
  const eventId = newIdOfTime(Date.now() + 2 * DAY_MS);
  await db.sql.query(
    "INSERT INTO inbox (consumer, event_id, expected_effects) VALUES ('webhook-dispatcher', $1, 1)",
    [eventId],
  );
  const sent = watchSentQueries();
  expect(await findTooFewDeliveries(db.sql, [eventId])).toEqual([eventId]);
  expect(sent()).toHaveLength(2);
  const known = new Set([eventId]);
  expect(await findTooFewDeliveries(db.sql, [eventId], known)).toEqual([eventId]);
  expect(sent()).toHaveLength(3);
  await insertEnded([eventId]);
  expect(await findTooFewDeliveries(db.sql, [eventId], known)).toEqual([]);
});

/** The blocks that the statement reads with the plan that it keeps for any number of events. */
async function blocksRead(ids: readonly string[]): Promise<number> {
  // The options of the service's own connections.
  const service = db.connect({
    max: 1,
    options: '-c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan -c enable_seqscan=off',
  });
  const client = await service.connect();
  try {
    let blocks = 0;
    const explain = async ({ text, values }: SentQuery) => {
      const explained = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
      const { rows } = await client.query(explained, [...values]);
      const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
      blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    };
    await findTooFewDeliveries(capturingClient(explain), ids);
    return blocks;
  } finally {
    client.release(true);
  }
}
