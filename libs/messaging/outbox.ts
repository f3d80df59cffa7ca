/**
 * The transactional outbox: a service writes an event in the transaction of the change that the event
 * reports, and the relay publishes the event from the outbox.
 *
 * The order of events rests on one rule: every writer of a series, such as the decisions of a submission, takes the same row
 * lock before the outbox draws the event's id. So the ids of a series rise in the order of the commits. A key, such as an
 * application, may have several series; between those no order is promised.
 */
import type { JsonValue } from '@bufbuild/protobuf';
import { type EventType, encodeEvent, type Topic } from '@creditlane/events/topics';
import { grantToRequestRoleSql } from '@creditlane/postgres/row-security/request-role';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { newId } from '@creditlane/runtime/ids';

/**
 * All events of a key are in one shard, and one relay at a time publishes a shard. An outbox begins with this many;
 * once `raiseShards` has raised the number, the database assigns events to shards.
 */
export const OUTBOX_SHARDS = 4;

/** The SQL statements of a migration that creates the outbox. */
export const createOutboxSql: readonly string[] = [
  `CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shard smallint NOT NULL CHECK (shard >= 0 AND shard < ${OUTBOX_SHARDS}),
    topic text NOT NULL,
    key text NOT NULL,
    event_id uuid NOT NULL DEFAULT gen_random_uuid(),
    type text NOT NULL,
    payload jsonb NOT NULL,
    traceparent text,
    created_at timestamptz NOT NULL DEFAULT now(),
    published_at timestamptz
  ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02)`,
  // Holds only unpublished rows, so it stays small however large the table is.
  'CREATE INDEX outbox_unpublished ON outbox (shard, id) WHERE published_at IS NULL',
  `CREATE TABLE outbox_lease (
    shard smallint PRIMARY KEY,
    holder uuid,
    fence bigint NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL DEFAULT '-infinity'
  ) WITH (fillfactor = 50)`,
  `INSERT INTO outbox_lease (shard) SELECT generate_series(0, ${OUTBOX_SHARDS - 1})`,
];

/** The SQL of a migration by which requests may add events to the outbox, and read none. */
export const allowAppendingSql = grantToRequestRoleSql('INSERT', 'outbox');

/** An event to be published once the transaction commits. */
export interface OutboxEvent {
  topic: Topic;
  key: string;
  type: EventType;
  /** Protobuf JSON of the event. */
  payload: JsonValue;
  /** A UUID of version 7; a new one when left out. */
  id?: string;
  traceparent?: string | undefined;
}

/** Returns the shard of a key: FNV-1a over its UTF-16 code units. No version may change it. */
export function shardOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash % OUTBOX_SHARDS;
}

/**
 * The head of every INSERT into the outbox, for a statement that writes an event together with the
 * rows which make it true. A SELECT follows that gives these columns in this order:
 *
 * | column      | type         | value                                                           |
 * |-------------|--------------|-----------------------------------------------------------------|
 * | shard       | smallint     | `shardOf(key)`                                                  |
 * | topic       | text         | a name in TOPICS                                                |
 * | key         | text         | orders the events; the statement holds the row lock of a series |
 * | event_id    | uuid         | a new UUID of version 7, by which consumers recognise a repeat  |
 * | type        | text         | an event type of the topic                                      |
 * | traceparent | text or NULL | of the call that caused the event                               |
 * | payload     | jsonb        | the event as protobuf JSON                                      |
 *
 * The payload must be an event of its type (`encodeEvent` throws otherwise): an event that the relay
 * cannot encode blocks all later events of its key.
 */
export const insertOutboxSql =
  'INSERT INTO outbox (shard, topic, key, event_id, type, traceparent, payload)';

const insertEvents = defineStatement(
  'outbox_append',
  `${insertOutboxSql}
   SELECT shard, topic, key, event_id, type, traceparent, payload
   FROM unnest($1::smallint[], $2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::jsonb[])
     WITH ORDINALITY AS event (shard, topic, key, event_id, type, traceparent, payload, position)
   ORDER BY position`,
);

/**
 * Writes events, in their order, in the transaction `tx`. Throws `InvalidEventError` for a payload
 * that is not an event of its type: the relay could never publish it.
 */
export async function appendToOutbox(tx: Queryable, events: readonly OutboxEvent[]): Promise<void> {
  if (events.length === 0) return;
  for (const { type, payload } of events) encodeEvent(type, payload);
  await insertEvents.run(tx, [
    events.map(({ key }) => shardOf(key)),
    events.map(({ topic }) => topic),
    events.map(({ key }) => key),
    events.map(({ id }) => id ?? newId()),
    events.map(({ type }) => type),
    events.map(({ traceparent }) => traceparent ?? null),
    events.map(({ payload }) => JSON.stringify(payload)),
  ]);
}

/**
 * Selects columns of the events that are not published yet, those of each shard in their order. By its shard an event is found in
 * the index: the queue keeps the pages of its longest backlog (`outbox-by-day.ts`), and without a shard all of them are read.
 */
export const unpublishedSql = (columns: string) =>
  `SELECT waiting.* FROM outbox_lease AS lease CROSS JOIN LATERAL (
     SELECT ${columns} FROM outbox WHERE shard = lease.shard AND published_at IS NULL ORDER BY id
   ) AS waiting`;

const selectAnyUnpublished = defineStatement<{ any: boolean }>(
  'outbox_any',
  `SELECT EXISTS (${unpublishedSql('id')}) AS any`,
);

/** Whether the outbox holds an event that is not published yet. */
export async function hasUnpublishedEvents(db: Queryable): Promise<boolean> {
  const [row] = await selectAnyUnpublished.run(db);
  return row?.any === true;
}
