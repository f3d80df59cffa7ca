/** Due deliveries without an attempt under way, as they are after a long outage of a receiver. */
import { runSql } from './sql.ts';

/**
 * Inserts `count` copies of a delivered webhook into the dispatcher's database. Each has an
 * application id of its own, so that no delivery waits for another one of its lane.
 */
export async function insertDueDeliveries(url: string, count: number): Promise<void> {
  await runSql(
    url,
    `WITH original AS (
       SELECT d AS delivery, (SELECT m FROM messages AS m WHERE m.event_id = d.event_id) AS message
       FROM deliveries AS d WHERE d.state = 'delivered' LIMIT 1
     ), id AS (
       SELECT gen_random_uuid() AS event_id, gen_random_uuid() AS application_id
       FROM generate_series(1, $1)
     ), message AS (
       INSERT INTO messages SELECT row.* FROM id CROSS JOIN original
       CROSS JOIN LATERAL jsonb_populate_record(message,
         jsonb_build_object('event_id', id.event_id)) AS row
     )
     INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased,
       fence, next_attempt_at)
     SELECT gen_random_uuid(), id.event_id, (delivery).destination_id, id.application_id, 1, 'due',
       false, 0, now()
     FROM id CROSS JOIN original`,
    [count],
  );
}
