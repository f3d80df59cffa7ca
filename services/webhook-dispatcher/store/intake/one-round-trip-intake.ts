/**
 * The SQL of an intake in one round trip. The plan is made for an empty database; the statement moves its numbers behind
 * those that are stored, has the first delivery of a lane wait when the lane is busy, and makes deliveries to disabled
 * destinations dead.
 */
import { insertInboxSql } from '@creditlane/messaging/transactional-inbox';
import { type Column, defineFewRowsStatement } from '@creditlane/postgres/array-rows';
import { mapQueryResult, type Query } from '@creditlane/postgres/statement';
import { counterKey, type IntakePlan, type PlannedDelivery } from '../../intake/plan.ts';
import { laneKey } from '../../queue/delivery.ts';
import { splitIds } from '../../queue/joined-ids.ts';
import { SERVICE } from '../../service-name.ts';
import {
  busyLanesSql,
  deliveryKeyColumns,
  deliveryStateColumns,
  MESSAGE,
  messageColumns,
} from './two-round-trip-intake.ts';

const SERIES: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['first_sequence', 'bigint'],
  ['seen_sequence', 'bigint'],
];
const COUNTER: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['destination_id', 'uuid'],
  ['added', 'bigint'],
];
const DELIVERY: readonly Column[] = [
  ['id', 'uuid'],
  ['event_id', 'uuid'],
  ['destination_id', 'uuid'],
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['before_last', 'bigint'],
  ['state', 'text'],
  ['reason', 'text'],
  ['leased', 'boolean'],
];

// Each list of columns follows the one before in the parameters; those before the first are written out in the statement.
const SERIES_AT = 11;
const COUNTER_AT = SERIES_AT + SERIES.length;
const MESSAGE_AT = COUNTER_AT + COUNTER.length;
const DELIVERY_AT = MESSAGE_AT + MESSAGE.length;

interface WrittenRow {
  applies: boolean;
  id: string | null;
  sequence: number | null;
  state: PlannedDelivery['state'];
}

// The statement writes nothing when the inbox has one of the events, when an event is not later than the last of its series,
// or when a disabled destination was set anew. The batch is then read and planned in TypeScript, in two round trips.
//
// For an empty database, the rules of plan.ts decide; how they depend on what is stored is repeated here in SQL. The test
// "random batches leave the same rows in one round trip as in two" compares them.
//
// All else is read from `begun`, so that the inbox is written first: PostgreSQL would write it last. Two processes with the
// same events, of which one takes two round trips, would then wait for each other.
//
// The bounds $4 and $5 repeat the condition on $2: PostgreSQL leaves out partitions of the inbox by single values, not by
// an array.
const insertInOneRoundTrip = defineFewRowsStatement<WrittenRow>(
  'intake_in_one_round_trip',
  (rows) => `WITH series AS MATERIALIZED (
     SELECT * FROM ${rows(SERIES, SERIES_AT)} AS s
   ), disabled AS MATERIALIZED (
     SELECT destination_id, s.revision >= r.revision AS stays, 'destination_disabled' AS reason
     FROM unnest($9::uuid[], $10::int[]) AS r (destination_id, revision)
     JOIN destination_states AS s USING (destination_id) WHERE s.disabled_at IS NOT NULL
   ), plan AS MATERIALIZED (
     SELECT NOT EXISTS (
         SELECT FROM inbox
         WHERE consumer = $1 AND event_id = ANY ($2::uuid[]) AND event_id BETWEEN $4::uuid AND $5::uuid)
       AND NOT EXISTS (
         SELECT FROM series JOIN submissions AS seen USING (application_id, creditor_id)
         WHERE seen.seen_sequence >= series.first_sequence)
       AND NOT EXISTS (SELECT FROM disabled WHERE NOT stays) AS applies
   ), received AS (
     ${insertInboxSql}
     SELECT $1, * FROM unnest($2::uuid[], $3::integer[]) WHERE (SELECT applies FROM plan)
     RETURNING event_id
   ), begun AS MATERIALIZED (
     SELECT count(*) > 0 AS applies FROM received
   ), lane AS (
     SELECT * FROM unnest($7::uuid[], $8::uuid[]) AS l (application_id, destination_id)
     WHERE (SELECT applies FROM begun)
   ), busy_lane AS MATERIALIZED (
     ${busyLanesSql}
   ), high_water_mark AS (
     INSERT INTO submissions (application_id, creditor_id, seen_sequence)
     SELECT application_id, creditor_id, seen_sequence FROM series WHERE (SELECT applies FROM begun)
     ON CONFLICT (application_id, creditor_id)
     DO UPDATE SET seen_sequence = greatest(submissions.seen_sequence, excluded.seen_sequence)
   ), last_sequence AS (
     INSERT INTO sequences AS stored (application_id, creditor_id, destination_id, last_sequence)
     SELECT application_id, creditor_id, destination_id, added FROM ${rows(COUNTER, COUNTER_AT)} AS c
     WHERE (SELECT applies FROM begun)
     ON CONFLICT (application_id, destination_id, creditor_id)
     DO UPDATE SET last_sequence = stored.last_sequence + excluded.last_sequence
     RETURNING application_id, creditor_id, destination_id, last_sequence
   ), message AS (
     INSERT INTO messages (event_id, event, creditor_id, body, reference, recorded_at, traceparent)
     SELECT event_id, event, creditor_id, body, reference, recorded_at, traceparent
     FROM ${rows(MESSAGE, MESSAGE_AT)} AS m WHERE (SELECT applies FROM begun)
   ), planned AS (
     SELECT d.place, d.id, d.event_id, d.destination_id, d.application_id, d.leased,
       last_sequence - before_last AS sequence, coalesce(d.reason, disabled.reason) AS reason,
       CASE WHEN disabled.reason IS NOT NULL THEN 'dead'
         WHEN d.state = 'due' AND busy.destination_id IS NOT NULL THEN 'waiting' ELSE d.state END AS state
     FROM ${rows(DELIVERY, DELIVERY_AT)} AS d
     LEFT JOIN last_sequence USING (application_id, creditor_id, destination_id)
     LEFT JOIN busy_lane AS busy USING (application_id, destination_id)
     LEFT JOIN disabled USING (destination_id)
     WHERE (SELECT applies FROM begun)
   ), delivery AS (
     INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, reason,
       leased, fence, next_attempt_at, settled_at, storage)
     SELECT id, event_id, destination_id, application_id, sequence, state, reason,
       leased AND state = 'due', (leased AND state = 'due')::int,
       CASE WHEN state = 'due' THEN now() + leased::int * $6 * interval '1 ms' END,
       CASE WHEN state = 'dead' THEN now() END, CASE WHEN state = 'dead' THEN 'ended' ELSE 'queue' END
     FROM planned
     ORDER BY place
     RETURNING id, sequence, state
   )
   SELECT applies, id, sequence, state FROM begun LEFT JOIN delivery ON true`,
);

export interface IntakeEvents {
  readonly ids: readonly string[];
  /** As the inbox has them. */
  readonly expectedEffects: readonly number[];
  /** The lowest sequence of each series, by `seriesKey`. */
  readonly firstSequences: ReadonlyMap<string, number>;
}

/**
 * Inserts the events into the inbox and writes their plan, which was made for an empty database and has FEW_ROWS deliveries
 * at most: the statement joins its rows by comparing each with each. Deliveries whose ids are in `leasedIds` are leased for
 * `leaseMs`, unless their lane is busy or their destination disabled. Resolves to the deliveries as they are stored, or to
 * undefined when nothing is written, because the plan does not apply.
 */
export function insertInOneRoundTripQuery(
  events: IntakeEvents,
  plan: IntakePlan,
  leasedIds: ReadonlySet<string>,
  leaseMs: number,
): Query<PlannedDelivery[] | undefined> {
  const { lastSequences: added, messages, deliveries } = plan;
  const lanes = deliveries.map(({ message, destinationId }) =>
    laneKey({ orderingKey: message.webhook.orderingKey, destinationId }),
  );
  const beforeLast = ({ message, destinationId, sequence }: PlannedDelivery) => {
    const last = added.get(counterKey(message.webhook, destinationId));
    return sequence === null || last === undefined ? null : last - sequence;
  };
  const ids = events.ids.toSorted();
  const revisions = new Map<string, number>();
  for (const { destinationId, revision } of messages.flatMap(({ webhook }) => webhook.recipients)) {
    revisions.set(destinationId, Math.max(revision, revisions.get(destinationId) ?? 0));
  }
  const query = insertInOneRoundTrip.query([
    SERVICE,
    events.ids,
    events.expectedEffects,
    ids[0],
    ids.at(-1),
    leaseMs,
    // Locked in the order in which the results transaction locks them, so that the two cannot deadlock.
    ...splitIds([...new Set(lanes)].sort(), 2),
    [...revisions.keys()],
    [...revisions.values()],
    ...splitIds(plan.highWaterMarks.keys(), 2),
    [...plan.highWaterMarks.keys()].map((series) => events.firstSequences.get(series)),
    [...plan.highWaterMarks.values()],
    ...splitIds(added.keys(), 3),
    [...added.values()],
    ...messageColumns(messages),
    ...deliveryKeyColumns(deliveries),
    deliveries.map(({ message }) => message.webhook.numberingKey),
    deliveries.map(beforeLast),
    ...deliveryStateColumns(deliveries, leasedIds),
  ]);
  return mapQueryResult(query, (written) => {
    if (written[0]?.applies !== true) return undefined;
    const byId = new Map(written.map((row) => [row.id, row]));
    return deliveries.map((planned) => {
      const row = byId.get(planned.id);
      if (row === undefined) throw new Error('every planned delivery was written');
      return { ...planned, sequence: row.sequence, state: row.state };
    });
  });
}
