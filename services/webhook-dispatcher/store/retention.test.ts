import { randomUUID } from 'node:crypto';
import { runPurge } from '@creditlane/postgres/retention';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import { purgeDeliveries, purgeMessages, purgeReplayJobs } from './retention.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
  const { close } = await fixture.start();
  await close();
});
afterEach(() => fixture.close());

/** Adds an event with a delivery of that age and an attempt; `settledDays` ago the delivery became dead. */
async function addDelivery(ageDays: number, settledDays: number | null): Promise<string> {
  const [id, eventId] = [randomUUID(), randomUUID()];
  const ages = `now() - $3 * interval '1 day'`;
  await fixture.sql.query(
    `WITH message AS (
       INSERT INTO messages VALUES ($2, 'applicationBooked', $2, '{}', ${ages})
     ), attempt AS (
       INSERT INTO attempts VALUES ($1, 1, ${ages}, 5)
     )
     INSERT INTO deliveries (id, event_id, destination_id, application_id, state, leased, fence,
       created_at, settled_at)
     VALUES ($1, $2, $1, $2, CASE WHEN $4::float8 IS NULL THEN 'due' ELSE 'dead' END, false, 1,
       ${ages}, now() - $4::float8 * interval '1 day')`,
    [id, eventId, ageDays, settledDays],
  );
  return id;
}

it('a delivery is deleted thirty days after its final state, with its attempts and its message', async () => {
  const kept = [
    await addDelivery(45, 29),
    await addDelivery(40, null),
    await addDelivery(29, 29),
  ].sort();
  await addDelivery(31, 31);
  await addDelivery(60, 40);
  expect(await runPurge(fixture.sql, purgeDeliveries)).toBe(2);
  expect(await runPurge(fixture.sql, purgeMessages)).toBe(2);
  const { rows } = await fixture.sql.query(
    `SELECT d.id FROM deliveries AS d JOIN attempts ON delivery_id = d.id
     JOIN messages USING (event_id) ORDER BY d.id`,
  );
  expect(rows.map(({ id }) => id)).toEqual(kept);
  const { rows: left } = await fixture.sql.query(
    'SELECT (SELECT count(*)::int FROM attempts) + (SELECT count(*)::int FROM messages) AS count',
  );
  expect(left).toEqual([{ count: 6 }]);
});

it('a replay of many deliveries is deleted thirty days after its end', async () => {
  await fixture.sql.query(
    `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, cursor_created_at,
       cursor_id, requested_at, finished_at)
     SELECT id, id, id, 'dead', now(), id, now() - asked * interval '1 day', now() - ended * interval '1 day'
     FROM (VALUES (gen_random_uuid(), 45, 31), (gen_random_uuid(), 45, 29),
       (gen_random_uuid(), 45, NULL)) AS job (id, asked, ended)`,
  );
  expect(await runPurge(fixture.sql, purgeReplayJobs)).toBe(1);
});
