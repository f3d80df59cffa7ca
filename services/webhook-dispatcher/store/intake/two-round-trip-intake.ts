/**
 * The SQL of an intake in two round trips: it reads the stored state, and writes what was planned with it. Columns keep the names
 * of the first event types: `application_id` holds the ordering key and `creditor_id` the numbering key.
 */
import { type Column, defineArrayStatement } from '@creditlane/postgres/array-rows';
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';
import type { DestinationRevision, SeriesPosition } from '../../events/webhook-event-type.ts';
import {
  counterKey,
  type IntakePlan,
  type Message,
  type PlannedDelivery,
  type StoredState,
  seriesKey,
} from '../../intake/plan.ts';
import { laneKey } from '../../queue/delivery.ts';
import { splitIds } from '../../queue/joined-ids.ts';

/** The series and the lanes of one event, by which its stored state is read. */
export interface SeriesAndLanes {
  readonly seriesPosition: SeriesPosition | undefined;
  /** `undefined` when the event has no webhook. */
  readonly orderingKey: string | undefined;
  readonly recipients: readonly DestinationRevision[];
}

// Events of one ordering key come by several topics, whose batches two processes may take in at the same time. Without
// the lock, both would read the same last sequence and the same empty lane: two deliveries would have one number, and
// both would be due. The locks are taken in one order, before those of any delivery, and by no other transaction, so
// that they cannot deadlock. A batch has some 1,000 keys at most, and PostgreSQL's table of locks has room for 6,400
// with its smallest usual settings. The statement costs 15 µs, and 1 µs for each key. A refusal of a number that has
// been assigned meanwhile was not taken instead: two creditors of an application have counters of their own, and
// one lane.
const lockOrderingKeys = defineStatement<{ count: string }>(
  'intake_lock',
  `SELECT count(pg_advisory_xact_lock(id)) FROM (
     SELECT hashtextextended('intake ' || key, 0) AS id FROM unnest($1::uuid[]) AS k (key) ORDER BY id
   ) AS ordered`,
);

/** Locks the ordering keys whose deliveries a batch numbers, until the end of the transaction. */
export function lockOrderingKeysQuery(
  batch: readonly SeriesAndLanes[],
): Query<unknown> | undefined {
  const numbered = batch.filter(({ recipients }) => recipients.length > 0);
  const orderingKeys = new Set(numbered.map(({ orderingKey }) => orderingKey));
  return orderingKeys.size > 0 ? lockOrderingKeys.query([[...orderingKeys]]) : undefined;
}

interface StateRow {
  fact: 'high-water mark' | 'last sequence' | 'busy lane' | 'disabled destination';
  orderingKey: string;
  numberingKey: string;
  destinationId: string;
  number: number;
}

// The row of the delivery that keeps its lane waiting is locked. Otherwise its result could be recorded
// between this read and the insertion of a delivery that waits behind it, and the promotion of the next
// delivery would miss the inserted one. The lanes are locked in the order in which the results
// transaction locks them, so that the two cannot deadlock.
//
// `IS TRUE`, here and in the other lookups of a lane, hides the state from the planner's choice of an index.
// Statistics of an empty queue promise few pending deliveries, and the index deliveries_by_destination then
// looks cheaper than the lane's, but each lookup reads all that is pending to the destination, and what was
// pending since the last vacuum: 800 rows for each delivery, where the lane's index reads two.
export const busyLanesSql = `SELECT lane.application_id, lane.destination_id
     FROM lane CROSS JOIN LATERAL (
       SELECT d.id FROM deliveries AS d
       WHERE d.storage <> 'ended' AND d.application_id = lane.application_id
         AND d.destination_id = lane.destination_id AND (d.state IN ('waiting', 'due')) IS TRUE AND d.holding
       ORDER BY d.position LIMIT 1 FOR UPDATE
     ) AS holding`;

const findStoredState = defineStatement<StateRow>(
  'intake_state',
  `WITH series AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS s (application_id, creditor_id)
   ), lane AS (
     SELECT * FROM unnest($3::uuid[], $4::uuid[]) AS l (application_id, destination_id)
   ), busy_lane AS (
     ${busyLanesSql}
   )
   SELECT 'high-water mark' AS fact, application_id AS "orderingKey", creditor_id AS "numberingKey",
     NULL::uuid AS "destinationId", seen_sequence AS number
   FROM submissions JOIN series USING (application_id, creditor_id)
   UNION ALL
   SELECT 'last sequence', application_id, creditor_id, destination_id, last_sequence
   FROM sequences JOIN lane USING (application_id, destination_id)
   UNION ALL
   SELECT 'busy lane', application_id, NULL, destination_id, NULL FROM busy_lane
   UNION ALL
   SELECT 'disabled destination', NULL, NULL, destination_id, revision
   FROM destination_states WHERE disabled_at IS NOT NULL AND destination_id = ANY ($4::uuid[])`,
);

/** Reads the state that a batch is planned with, and locks the deliveries that new ones will wait behind. */
export function findStoredStateQuery(batch: readonly SeriesAndLanes[]): Query<StoredState> {
  const series = new Set<string>();
  const lanes = new Set<string>();
  for (const { seriesPosition: mark, orderingKey, recipients } of batch) {
    if (mark !== undefined) series.add(seriesKey(mark));
    if (orderingKey === undefined) continue;
    for (const { destinationId } of recipients) lanes.add(laneKey({ orderingKey, destinationId }));
  }
  const values = [...splitIds(series, 2), ...splitIds([...lanes].sort(), 2)];
  return mapQueryResult(findStoredState.query(values), toStoredState);
}

function toStoredState(rows: readonly StateRow[]): StoredState {
  const highWaterMarks = new Map<string, number>();
  const lastSequences = new Map<string, number>();
  const busyLanes = new Set<string>();
  const disabledRevisions = new Map<string, number>();
  for (const row of rows) {
    const { destinationId, number } = row;
    switch (row.fact) {
      case 'high-water mark':
        highWaterMarks.set(seriesKey(row), number);
        break;
      case 'last sequence':
        lastSequences.set(counterKey(row, destinationId), number);
        break;
      case 'busy lane':
        busyLanes.add(laneKey(row));
        break;
      case 'disabled destination':
        disabledRevisions.set(destinationId, number);
        break;
    }
  }
  return { highWaterMarks, lastSequences, busyLanes, disabledRevisions };
}

const HIGH_WATER_MARK: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['seen_sequence', 'bigint'],
];
const LAST_SEQUENCE: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['destination_id', 'uuid'],
  ['last_sequence', 'bigint'],
];
export const MESSAGE: readonly Column[] = [
  ['event_id', 'uuid'],
  ['event', 'text'],
  ['creditor_id', 'uuid'],
  ['body', 'text'],
  ['reference', 'text'],
  ['recorded_at', 'timestamptz'],
  ['traceparent', 'text'],
];
const DELIVERY: readonly Column[] = [
  ['id', 'uuid'],
  ['event_id', 'uuid'],
  ['destination_id', 'uuid'],
  ['application_id', 'uuid'],
  ['sequence', 'bigint'],
  ['state', 'text'],
  ['reason', 'text'],
  ['leased', 'boolean'],
];

// Each list of columns follows the one before in the parameters.
const HIGH_WATER_MARK_AT = 2;
const LAST_SEQUENCE_AT = HIGH_WATER_MARK_AT + HIGH_WATER_MARK.length;
const MESSAGE_AT = LAST_SEQUENCE_AT + LAST_SEQUENCE.length;
const DELIVERY_AT = MESSAGE_AT + MESSAGE.length;

// A lease begins with this statement. It would end too early for the process if it began with the transaction, whose reads may
// have waited for locks.
//
// Assembled from strings, because arrays of few rows and of many are unnested differently: see array-rows.ts.
const insertPlan = defineArrayStatement(
  'intake_insert',
  (rows) => `WITH high_water_mark AS (
     INSERT INTO submissions (application_id, creditor_id, seen_sequence)
     SELECT application_id, creditor_id, seen_sequence FROM ${rows(HIGH_WATER_MARK, HIGH_WATER_MARK_AT)} AS h
     ON CONFLICT (application_id, creditor_id)
     DO UPDATE SET seen_sequence = greatest(submissions.seen_sequence, excluded.seen_sequence)
   ), last_sequence AS (
     INSERT INTO sequences (application_id, creditor_id, destination_id, last_sequence)
     SELECT application_id, creditor_id, destination_id, last_sequence
     FROM ${rows(LAST_SEQUENCE, LAST_SEQUENCE_AT)} AS l
     ON CONFLICT (application_id, destination_id, creditor_id)
     DO UPDATE SET last_sequence = excluded.last_sequence
   ), message AS (
     INSERT INTO messages (event_id, event, creditor_id, body, reference, recorded_at, traceparent)
     SELECT event_id, event, creditor_id, body, reference, recorded_at, traceparent
     FROM ${rows(MESSAGE, MESSAGE_AT)} AS m
   )
   INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, reason,
     leased, fence, next_attempt_at, settled_at, storage)
   SELECT id, event_id, destination_id, application_id, sequence, state, reason,
     leased, leased::int,
     CASE WHEN state = 'due' THEN statement_timestamp() + leased::int * $1 * interval '1 ms' END,
     CASE WHEN state = 'dead' THEN now() END, CASE WHEN state = 'dead' THEN 'ended' ELSE 'queue' END
   FROM ${rows(DELIVERY, DELIVERY_AT)} AS d
   ORDER BY place`,
);

/**
 * Writes a plan. The deliveries with the ids in `leasedIds` are due now and leased by this process for `leaseMs`; the
 * other due ones are left for any process with capacity to claim.
 */
export function insertPlanQuery(
  plan: IntakePlan,
  leasedIds: ReadonlySet<string>,
  leaseMs: number,
): Query<unknown> {
  const { highWaterMarks, lastSequences, messages, deliveries } = plan;
  // An event without recipients makes no delivery, and still moves its high-water mark.
  const rowCount = Math.max(highWaterMarks.size, deliveries.length);
  return insertPlan(rowCount, [
    leaseMs,
    ...splitIds(highWaterMarks.keys(), 2),
    [...highWaterMarks.values()],
    ...splitIds(lastSequences.keys(), 3),
    [...lastSequences.values()],
    ...messageColumns(messages),
    ...deliveryKeyColumns(deliveries),
    deliveries.map(({ sequence }) => sequence),
    ...deliveryStateColumns(deliveries, leasedIds),
  ]);
}

/** The values of the columns of `MESSAGE`. */
export function messageColumns(messages: readonly Message[]): unknown[][] {
  const contents = messages.map(({ webhook }) => webhook.content);
  return [
    messages.map(({ eventId }) => eventId),
    messages.map(({ webhook }) => webhook.event),
    messages.map(({ webhook }) => webhook.numberingKey),
    contents.map((content) => (content.kind === 'reference' ? null : content.body)),
    contents.map((content) => (content.kind === 'reference' ? content.reference : null)),
    messages.map(({ recordedAt }) => recordedAt),
    messages.map(({ traceparent }) => traceparent ?? null),
  ];
}

/** The values of the first columns of deliveries: id, event, destination and ordering key. */
export function deliveryKeyColumns(deliveries: readonly PlannedDelivery[]): unknown[][] {
  return [
    deliveries.map(({ id }) => id),
    deliveries.map(({ message }) => message.eventId),
    deliveries.map(({ destinationId }) => destinationId),
    deliveries.map(({ message }) => message.webhook.orderingKey),
  ];
}

/** The values of the last columns of deliveries: state, reason, and whether they are leased. */
export function deliveryStateColumns(
  deliveries: readonly PlannedDelivery[],
  leasedIds: ReadonlySet<string>,
): unknown[][] {
  return [
    deliveries.map(({ state }) => state),
    deliveries.map(({ reason }) => reason),
    deliveries.map(({ id }) => leasedIds.has(id)),
  ];
}
