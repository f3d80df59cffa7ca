/** The relay's SQL: what is still to be published, and what has been. */

import type { JsonValue } from '@bufbuild/protobuf';
import type { EventRecord } from '@creditlane/events/message';
import type { EventType, Topic } from '@creditlane/events/topics';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';

/** How much of one shard is published at a time. */
const MAX_SHARD_BATCH = 500;

/** A row of the outbox that waits to be published. */
export interface OutboxRow {
  id: number;
  shard: number;
  topic: Topic;
  key: string;
  event_id: string;
  type: EventType;
  payload: JsonValue;
  traceparent: string | null;
  created_at: Date;
}

/**
 * The oldest unpublished rows of the shards ($1), but of the keys ($2), in the order of their ids. It
 * asks for what is not published and never for "ids after the last": a transaction may commit after
 * one with higher ids.
 */
export const readUnpublished = defineStatement<OutboxRow>(
  'outbox_read',
  `SELECT waiting.* FROM unnest($1::smallint[]) AS held (shard)
   CROSS JOIN LATERAL (
     SELECT id, shard, topic, key, event_id, type, payload, traceparent, created_at FROM outbox
     WHERE shard = held.shard AND published_at IS NULL AND key <> ALL ($2::text[])
     ORDER BY id LIMIT ${MAX_SHARD_BATCH}
   ) AS waiting
   ORDER BY waiting.id`,
);

/**
 * Marks exactly the rows with the ids $1, of those shards ($2) whose fence ($3) still stands. The
 * commit does not wait for the disk: a mark lost in a crash means an event published again, which
 * every consumer must expect anyway. Gives for each how long it took from its writing.
 */
export const markPublished = defineStatement<{ delay_s: number }>(
  'outbox_mark',
  `WITH quick AS (SELECT set_config('synchronous_commit', 'off', true) AS off)
   UPDATE outbox SET published_at = now()
   FROM quick, outbox_lease AS lease
   JOIN unnest($2::smallint[], $3::bigint[]) AS held (shard, fence)
     ON held.shard = lease.shard AND held.fence = lease.fence
   WHERE quick.off IS NOT NULL AND outbox.shard = lease.shard
     AND outbox.id = ANY ($1::bigint[]) AND outbox.published_at IS NULL
   RETURNING extract(epoch FROM clock_timestamp() - outbox.created_at)::float8 AS delay_s`,
);

const selectAnyUnpublished = defineStatement<{ any: boolean }>(
  'outbox_any',
  'SELECT EXISTS (SELECT FROM outbox WHERE published_at IS NULL) AS any',
);

/** Whether the outbox holds an event that is not published yet. */
export async function hasUnpublishedEvents(db: Queryable): Promise<boolean> {
  const [row] = await selectAnyUnpublished.run(db);
  return row?.any === true;
}

export const outboxBacklog = defineStatement<{ depth: number; oldest_s: number }>(
  'outbox_backlog',
  `SELECT count(*) AS depth,
     coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 AS oldest_s
   FROM outbox WHERE published_at IS NULL`,
);

/** The event that a row holds. */
export function toEventRecord(row: OutboxRow): EventRecord {
  const { event_id: id, topic, key, type, payload, created_at: time, traceparent } = row;
  return { id, topic, key, type, payload, time, traceparent };
}
