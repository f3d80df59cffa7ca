/** The SQL of taking events in: what is known of them, and the deliveries they make. */
import { type Column, defineArrayStatement } from '@creditlane/postgres/array-rows';
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';
import {
  type Incoming,
  type Known,
  laneKey,
  numberKey,
  type Plan,
  type PlannedDelivery,
  submissionKey,
} from '../intake/plan.ts';

/** Who is told of an application, in whose name. */
export type Told = Pick<Incoming, 'applicationId' | 'creditorId' | 'recipients'>;

interface Fact {
  fact: 'seen' | 'numbered' | 'busy' | 'disabled';
  application_id: string;
  creditor_id: string;
  destination_id: string;
  number: number;
}

// The row of the delivery that holds a lane's others back is locked: it cannot be recorded as settled
// while we decide that new ones wait behind it, or the promotion of the next would miss them. The
// lanes come in order, as the recorder locks them too, so that neither waits for the other in a ring.
const readKnown = defineStatement<Fact>(
  'fan_out_known',
  `WITH submission AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS s (application_id, creditor_id)
   ), lane AS (
     SELECT * FROM unnest($3::uuid[], $4::uuid[]) AS l (application_id, destination_id)
   ), gate AS (
     SELECT lane.application_id, lane.destination_id
     FROM lane CROSS JOIN LATERAL (
       SELECT d.id FROM deliveries AS d
       WHERE d.application_id = lane.application_id AND d.destination_id = lane.destination_id
         AND d.state IN ('waiting', 'due') AND d.holding
       ORDER BY d.position LIMIT 1 FOR UPDATE
     ) AS holding
   )
   SELECT 'seen' AS fact, application_id, creditor_id, NULL::uuid AS destination_id,
     seen_sequence AS number
   FROM submissions JOIN submission USING (application_id, creditor_id)
   UNION ALL
   SELECT 'numbered', application_id, creditor_id, destination_id, last_sequence
   FROM sequences JOIN lane USING (application_id, destination_id)
   UNION ALL
   SELECT 'busy', application_id, NULL, destination_id, NULL FROM gate
   UNION ALL
   SELECT 'disabled', NULL, NULL, destination_id, revision
   FROM destination_states WHERE disabled_at IS NOT NULL AND destination_id = ANY ($4::uuid[])`,
);

const SEEN: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['seen_sequence', 'bigint'],
];
const NUMBERED: readonly Column[] = [
  ['application_id', 'uuid'],
  ['creditor_id', 'uuid'],
  ['destination_id', 'uuid'],
  ['last_sequence', 'bigint'],
];
const MESSAGE: readonly Column[] = [
  ['event_id', 'uuid'],
  ['event', 'text'],
  ['creditor_id', 'uuid'],
  ['body', 'text'],
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

const insertPlan = defineArrayStatement(
  'fan_out_insert',
  (listed) => `WITH seen AS (
     INSERT INTO submissions (application_id, creditor_id, seen_sequence)
     SELECT application_id, creditor_id, seen_sequence FROM ${listed(SEEN)} AS s
     ON CONFLICT (application_id, creditor_id)
     DO UPDATE SET seen_sequence = greatest(submissions.seen_sequence, excluded.seen_sequence)
   ), numbered AS (
     INSERT INTO sequences (application_id, creditor_id, destination_id, last_sequence)
     SELECT application_id, creditor_id, destination_id, last_sequence FROM ${listed(NUMBERED, 4)} AS n
     ON CONFLICT (application_id, destination_id, creditor_id)
     DO UPDATE SET last_sequence = excluded.last_sequence
   ), message AS (
     INSERT INTO messages (event_id, event, creditor_id, body, recorded_at, traceparent)
     SELECT event_id, event, creditor_id, body, recorded_at, traceparent
     FROM ${listed(MESSAGE, 8)} AS m
   )
   INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, reason,
     leased, fence, next_attempt_at, settled_at)
   SELECT id, event_id, destination_id, application_id, sequence, state, reason,
     leased, leased::int,
     CASE WHEN state = 'due' THEN now() + leased::int * $22 * interval '1 ms' END,
     CASE WHEN state = 'dead' THEN now() END
   FROM ${listed(DELIVERY, 14)} AS d
   ORDER BY place`,
);

/** What the database knows of the batch; locks what new deliveries will wait behind. */
export function findingKnown(batch: readonly Told[]): Query<Known> {
  const submissions = new Set<string>();
  const lanes = new Set<string>();
  for (const { applicationId, creditorId, recipients } of batch) {
    submissions.add(submissionKey(applicationId, creditorId));
    for (const { destinationId } of recipients) lanes.add(laneKey(applicationId, destinationId));
  }
  const values = [...columns(submissions, 2), ...columns([...lanes].sort(), 2)];
  return mapQueryResult(readKnown.query(values), toKnown);
}

function toKnown(facts: readonly Fact[]): Known {
  const known = {
    seen: new Map<string, number>(),
    numbered: new Map<string, number>(),
    busy: new Set<string>(),
    disabled: new Map<string, number>(),
  };
  for (const { fact, application_id, creditor_id, destination_id, number } of facts) {
    if (fact === 'seen') known.seen.set(submissionKey(application_id, creditor_id), number);
    else if (fact === 'busy') known.busy.add(laneKey(application_id, destination_id));
    else if (fact === 'disabled') known.disabled.set(destination_id, number);
    else known.numbered.set(numberKey(application_id, creditor_id, destination_id), number);
  }
  return known;
}

/**
 * Writes a plan. The deliveries in `leased` are due now and belong to this process for `leaseMs`;
 * whoever has room takes the others.
 */
export function insertingPlanned(
  plan: Plan,
  leased: ReadonlySet<PlannedDelivery>,
  leaseMs: number,
): Query<unknown> {
  const { messages, deliveries } = plan;
  // Events that nobody is told of make no delivery, and are seen all the same.
  const rowCount = Math.max(plan.seen.size, deliveries.length);
  return insertPlan(rowCount, [
    ...columns(plan.seen.keys(), 2),
    [...plan.seen.values()],
    ...columns(plan.numbered.keys(), 3),
    [...plan.numbered.values()],
    messages.map(({ eventId }) => eventId),
    messages.map(({ rendering }) => (rendering.kind === 'silent' ? null : rendering.event)),
    messages.map(({ creditorId }) => creditorId),
    messages.map(({ rendering }) => (rendering.kind === 'silent' ? null : rendering.body)),
    messages.map(({ recordedAt }) => recordedAt),
    messages.map(({ traceparent }) => traceparent ?? null),
    deliveries.map(({ id }) => id),
    deliveries.map(({ incoming }) => incoming.eventId),
    deliveries.map(({ destinationId }) => destinationId),
    deliveries.map(({ incoming }) => incoming.applicationId),
    deliveries.map(({ sequence }) => sequence),
    deliveries.map(({ state }) => state),
    deliveries.map(({ reason }) => reason),
    deliveries.map((delivery) => leased.has(delivery)),
    leaseMs,
  ]);
}

/** Splits keys of ids joined by spaces into one list per id. */
function columns(keys: Iterable<string>, count: number): string[][] {
  const split = [...keys].map((key) => key.split(' '));
  return Array.from({ length: count }, (_, n) => split.map((ids) => ids[n] ?? ''));
}
