/** The unpublished rows of the outbox, as the relay reads them under its leases. */
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';
import type { OutboxRow } from './outgoing-events.ts';
import { includesLease, type Lease } from './shard-leases.ts';

/** How many events of one shard a round publishes at most. */
export const MAX_SHARD_BATCH = 500;

/** The rows that no read finds: those of these keys, and those with these ids. */
export interface ExcludedRows {
  readonly keys: readonly string[];
  readonly ids: readonly number[];
}

const shardsOf = (leases: readonly Lease[]) => leases.map(({ shard }) => shard);

/**
 * The oldest unpublished rows of the shards ($1) without those of the keys ($2) and those with the ids ($3), in the order
 * of their ids. Only ids after $4 are read, and none of a key that has an unpublished row before: a transaction may
 * commit after another one with higher ids. The earlier row is found by a comparison of rows, for which a reserved connection
 * (READ_BY_INDEX in libs/postgres/database.ts) can only use the index of keys. An equality of keys could use an index of ids as
 * well, which looks as cheap while statistics say that the queue is empty; each search would then visit all rows that were
 * published since the oldest snapshot.
 *
 * NOT IN reads the keys into a hash table once; `<> ALL ($2)` would compare each row with each key. With 40,000 keys that wait
 * for a partition of the bus, and as many rows, that takes longer than a statement may.
 */
const selectUnpublished = defineStatement<OutboxRow>(
  'outbox_read',
  `SELECT waiting.* FROM unnest($1::smallint[]) AS held (shard)
   CROSS JOIN LATERAL (
     SELECT id, shard, topic, key, event_id AS "eventId", type, payload, traceparent, created_at AS "createdAt"
     FROM outbox AS event
     WHERE shard = held.shard AND published_at IS NULL AND id > $4
       AND key NOT IN (SELECT unnest($2::text[])) AND id <> ALL ($3::bigint[])
       AND (SELECT earlier.id FROM outbox AS earlier
         WHERE (earlier.key, earlier.id) >= (event.key, 0) AND (earlier.key, earlier.id) <= (event.key, $4)
           AND earlier.published_at IS NULL AND earlier.id <> ALL ($3::bigint[]) LIMIT 1) IS NULL
     ORDER BY id LIMIT ${MAX_SHARD_BATCH}
   ) AS waiting
   ORDER BY waiting.id`,
);

/** Returns the query for the oldest unpublished rows after an id. */
export function unpublishedQuery(
  leases: readonly Lease[],
  excluded: ExcludedRows,
  afterId: number,
): Query<OutboxRow[]> {
  return selectUnpublished.query([shardsOf(leases), excluded.keys, excluded.ids, afterId]);
}

/**
 * The id of the oldest unpublished row of the shards ($1) without those of the keys ($2), as in `selectUnpublished`, and those with
 * the ids ($3).
 */
const selectOldest = defineStatement<{ id: number | null }>(
  'outbox_read_oldest',
  `SELECT min(oldest.id) AS id FROM unnest($1::smallint[]) AS held (shard)
   CROSS JOIN LATERAL (
     SELECT id FROM outbox WHERE shard = held.shard AND published_at IS NULL
       AND key NOT IN (SELECT unnest($2::text[])) AND id <> ALL ($3::bigint[])
     ORDER BY id LIMIT 1
   ) AS oldest`,
);

/** Returns the query for the id of the oldest unpublished row, undefined without any. */
export function oldestUnpublishedQuery(
  leases: readonly Lease[],
  excluded: ExcludedRows,
): Query<number | undefined> {
  const query = selectOldest.query([shardsOf(leases), excluded.keys, excluded.ids]);
  return mapQueryResult(query, ([oldest]) => oldest?.id ?? undefined);
}

/**
 * The oldest unpublished rows of the shards ($1) with the keys ($2), without the ids ($3), in the order of their ids. IS TRUE
 * keeps the planner from making a join of IN, which it expects to have few rows.
 */
const selectUnpublishedOfKeys = defineStatement<OutboxRow>(
  'outbox_read_keys',
  `SELECT id, shard, topic, key, event_id AS "eventId", type, payload, traceparent, created_at AS "createdAt"
   FROM outbox
   WHERE shard = ANY ($1::smallint[]) AND published_at IS NULL
     AND (key IN (SELECT unnest($2::text[]))) IS TRUE AND id <> ALL ($3::bigint[])
   ORDER BY id LIMIT ${MAX_SHARD_BATCH}`,
);

/** Returns the query for the oldest unpublished rows of these keys, without those with the ids. */
export function unpublishedOfKeysQuery(
  leases: readonly Lease[],
  keys: readonly string[],
  excludedIds: readonly number[],
): Query<OutboxRow[]> {
  return selectUnpublishedOfKeys.query([shardsOf(leases), keys, excludedIds]);
}

/** The rows that were unpublished when the process held these leases. */
export interface UnpublishedRows {
  leases: readonly Lease[];
  rows: readonly OutboxRow[];
}

/**
 * Those of the rows whose leases are still `held`, with these leases: the process may have been suspended since it read the
 * rows.
 */
export function stillHeld(
  { leases, rows }: UnpublishedRows,
  held: readonly Lease[],
): UnpublishedRows {
  const valid = held.filter((lease) => includesLease(leases, lease));
  const shards = new Set(shardsOf(valid));
  return { leases: valid, rows: rows.filter(({ shard }) => shards.has(shard)) };
}
