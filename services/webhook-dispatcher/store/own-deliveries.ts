/** The SQL by which the owner of a destination reads its deliveries. `application_id` holds the ordering key. */
import {
  defineStatement,
  mapQueryResult,
  type Query,
  type Queryable,
  runQuery,
  type Statement,
} from '@creditlane/postgres/statement';
import { type ListPosition, microsSql } from '@creditlane/rpc/lists/list-cursor';
import type { DeliveryStateName } from '../delivery-states.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import { ANY_END, type EndTimes, endedWithinSql, endTimesOfIds } from './history/end-times.ts';

export interface OwnDeliveryRow {
  id: string;
  event: string;
  orderingKey: string;
  numberingKey: string;
  sequence: number | null;
  state: DeliveryStateName;
  reason: string | null;
  attempts: number;
  createdAt: Date;
  nextAttemptAt: Date | null;
  settledAt: Date | null;
  replayedAt: Date | null;
  destinationDisabledReason: string | null;
}

/** A field that is undefined accepts every delivery. */
export interface ListQuery {
  readonly destination: DestinationRevision;
  readonly states: readonly DeliveryStateName[];
  readonly events: readonly string[] | undefined;
  readonly orderingKey: string | undefined;
  readonly createdFrom: Date | undefined;
  /** Only deliveries that stand further down the list, which is newest first: older than this position. */
  readonly before: ListPosition;
  readonly limit: number;
  /** How many deliveries are searched for those of the events. */
  readonly maxSearched: number;
}

export interface FoundDeliveries {
  /** Newest first. */
  readonly rows: readonly Listed[];
  /** The last delivery that was searched, where more than `maxSearched` may be left; undefined at the end. */
  readonly searchedTo: ListPosition | undefined;
}

type Listed = OwnDeliveryRow & ListPosition;

/** The columns of `page` are null, all at once, when no delivery of those searched is of the events. */
type ListRow = (Listed | { id: null }) & {
  searched: number;
  lastCreatedAt: string;
  lastId: string;
};

const COLUMNS = `d.id, m.event, d.application_id AS "orderingKey", m.creditor_id AS "numberingKey",
       d.sequence, d.state, d.reason, d.attempts, d.created_at AS "createdAt",
       CASE WHEN NOT d.leased THEN d.next_attempt_at END AS "nextAttemptAt", d.settled_at AS "settledAt",
       d.replayed_at AS "replayedAt", s.disabled_reason AS "destinationDisabledReason"`;

/** SQL that joins the destination's state, unless it is that of a revision before the present one, which is enabled. */
const disabledStateSql = (revision: string) =>
  `LEFT JOIN destination_states AS s ON s.destination_id = d.destination_id AND s.revision >= ${revision}`;

/**
 * Two statements that differ in how they find the deliveries to search. Each state is read on its own from
 * the index of each partition on destination_id, state, created_at and id, which gives the order, so that a rare state costs no more than a
 * frequent one. The event is in the message and in no index: `$7` bounds the search for it, and OFFSET
 * makes the planner look each message up, where it otherwise may read the whole table for a rare event.
 */
function defineList(name: string, from: string): Statement<ListRow> {
  return defineStatement<ListRow>(
    name,
    `WITH searched AS MATERIALIZED (
       SELECT d.* FROM ${from}
       ORDER BY d.created_at DESC, d.id DESC LIMIT $7
     ), last AS (
       SELECT created_at, id FROM searched ORDER BY created_at, id LIMIT 1
     )
     SELECT page.*, ${microsSql('page."createdAt"')} AS at,
       (SELECT count(*) FROM searched) AS searched,
       ${microsSql('last.created_at')} AS "lastCreatedAt", last.id AS "lastId"
     FROM last LEFT JOIN LATERAL (
       SELECT ${COLUMNS}
       FROM searched AS d CROSS JOIN LATERAL (
         SELECT event, creditor_id FROM messages WHERE event_id = d.event_id OFFSET 0
       ) AS m
       ${disabledStateSql('$9')}
       WHERE $6::text[] IS NULL OR m.event = ANY ($6)
       ORDER BY d.created_at DESC, d.id DESC LIMIT $8
     ) AS page ON true
     ORDER BY page."createdAt" DESC, page.id DESC`,
  );
}

const listByDestination = defineList(
  'own_deliveries_list',
  `unnest($2::text[]) AS wanted (state) CROSS JOIN LATERAL (
         SELECT * FROM deliveries
         WHERE destination_id = $1 AND state = wanted.state
           AND (created_at, id) < ($3::timestamptz, $4::uuid) AND created_at >= $5
         ORDER BY created_at DESC, id DESC LIMIT $7
       ) AS d`,
);

// An ordering key has few deliveries, so that they are all read through the indexes on application_id and
// destination_id.
const listByOrderingKey = defineList(
  'own_deliveries_list_by_ordering_key',
  `deliveries AS d
       WHERE d.application_id = $10 AND d.destination_id = $1 AND d.state = ANY ($2::text[])
         AND (d.created_at, d.id) < ($3::timestamptz, $4::uuid) AND d.created_at >= $5`,
);

/** A page of the list of a destination's deliveries. */
export async function findOwnDeliveries(db: Queryable, query: ListQuery): Promise<FoundDeliveries> {
  const { destination, states, events, orderingKey, createdFrom, before } = query;
  const { limit, maxSearched } = query;
  const values = [
    destination.destinationId,
    states,
    before.at,
    before.id,
    createdFrom ?? new Date(0),
    events ?? null,
    maxSearched,
    limit,
    destination.revision,
  ];
  const found =
    orderingKey === undefined
      ? await listByDestination.run(db, values)
      : await listByOrderingKey.run(db, [...values, orderingKey]);
  const [first] = found;
  return {
    rows: found.filter((row) => row.id !== null),
    searchedTo:
      first?.searched === maxSearched ? { at: first.lastCreatedAt, id: first.lastId } : undefined,
  };
}

/** A delivery with the content of its message: the body, or the reference from which the body is rendered when sent. */
export type FoundDelivery = OwnDeliveryRow & { body: string | null; reference: string | null };

const selectDelivery = defineStatement<FoundDelivery>(
  'own_delivery_find',
  `SELECT ${COLUMNS}, m.body, m.reference
   FROM deliveries AS d JOIN messages AS m ON m.event_id = d.event_id
   ${disabledStateSql('$3')}
   WHERE d.id = $1 AND d.destination_id = $2 AND ${endedWithinSql('d', '$4', '$5')}`,
);

/** The delivery with this id, if it is to this destination. */
export function findOwnDeliveryQuery(
  id: string,
  { destinationId, revision }: DestinationRevision,
  { from, to }: EndTimes = endTimesOfIds([id]),
): Query<FoundDelivery | undefined> {
  const query = selectDelivery.query([id, destinationId, revision, from, to]);
  return mapQueryResult(query, ([row]) => row);
}

/** As `findOwnDeliveryQuery`, in all days. */
export function findOwnDeliveryOfAnyDay(
  db: Queryable,
  id: string,
  destination: DestinationRevision,
): Promise<FoundDelivery | undefined> {
  return runQuery(db, findOwnDeliveryQuery(id, destination, ANY_END));
}

/** As `findOwnDeliveryQuery`, and then in all days. */
export async function findOwnDelivery(
  db: Queryable,
  id: string,
  destination: DestinationRevision,
): Promise<FoundDelivery | undefined> {
  const found = await runQuery(db, findOwnDeliveryQuery(id, destination));
  return found ?? (await findOwnDeliveryOfAnyDay(db, id, destination));
}

export interface OwnAttemptRow {
  number: number;
  startedAt: Date;
  durationMs: number;
  status: number | null;
  failure: string | null;
}

const selectAttempts = defineStatement<OwnAttemptRow>(
  'own_delivery_attempts',
  `SELECT number, started_at AS "startedAt", duration_ms AS "durationMs", status, failure
   FROM (
     SELECT * FROM attempts WHERE delivery_id = $1 ORDER BY number DESC LIMIT $2
   ) AS latest ORDER BY number`,
);

/** The latest attempts at a delivery, oldest first. */
export function findAttemptsQuery(deliveryId: string, limit: number): Query<OwnAttemptRow[]> {
  return selectAttempts.query([deliveryId, limit]);
}
