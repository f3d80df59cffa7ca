/**
 * The SQL of destination states: last success, first failure, disabled or not. A state belongs to one
 * revision of its destination; a result at a later revision begins a new state.
 */
import {
  defineStatement,
  mapQueryResult,
  type Query,
  type Queryable,
} from '@creditlane/postgres/statement';
import type { DestinationHealth } from '../destinations/destination-health.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';

/** A destination that is disabled: nothing more is sent to it at this revision or an earlier one. */
export interface DisabledDestination {
  readonly destinationId: string;
  readonly revision: number;
  /** A stable word. */
  readonly reason: string;
  /** Whether this statement disabled it. */
  readonly isNew: boolean;
}

const updateHealth = defineStatement<DisabledDestination>(
  'destinations_update_health',
  `INSERT INTO destination_states AS s (destination_id, revision, last_success_at, failing_since,
     disabled_at, disabled_reason)
   SELECT id, revision, CASE WHEN succeeded THEN now() END, CASE WHEN NOT succeeded THEN now() END,
     CASE WHEN gone_reason IS NOT NULL THEN now() END, gone_reason
   FROM unnest($1::uuid[], $2::int[], $3::boolean[], $4::text[])
     AS d (id, revision, succeeded, gone_reason) ORDER BY id
   ON CONFLICT (destination_id) DO UPDATE SET
     revision = excluded.revision,
     last_success_at = coalesce(excluded.last_success_at, s.last_success_at),
     failing_since = CASE WHEN excluded.last_success_at IS NULL THEN
       coalesce(CASE WHEN s.revision = excluded.revision THEN s.failing_since END,
         excluded.failing_since) END,
     disabled_at = coalesce(
       CASE WHEN s.revision = excluded.revision THEN s.disabled_at END,
       excluded.disabled_at,
       CASE WHEN s.revision = excluded.revision AND excluded.last_success_at IS NULL
         AND s.failing_since < now() - $5 * interval '1 ms'
         AND coalesce((SELECT b.paused_until FROM open_breakers AS b WHERE b.destination_id = s.destination_id)
           < now() - $5 * interval '1 ms', true) THEN now() END),
     disabled_reason = coalesce(
       CASE WHEN s.revision = excluded.revision THEN s.disabled_reason END,
       excluded.disabled_reason,
       CASE WHEN s.revision = excluded.revision AND excluded.last_success_at IS NULL
         AND s.failing_since < now() - $5 * interval '1 ms'
         AND coalesce((SELECT b.paused_until FROM open_breakers AS b WHERE b.destination_id = s.destination_id)
           < now() - $5 * interval '1 ms', true) THEN 'no_success' END)
   WHERE s.revision <= excluded.revision
   RETURNING destination_id AS "destinationId", revision, disabled_reason AS reason,
     disabled_at = now() AS "isNew"`,
);

/**
 * Stores the health of destinations, and disables every destination whose receiver answered that it is gone, or that had no
 * success for `disableAfterMs`, which count from the end of its last pause. Returns the given destinations that are
 * disabled after the statement. The health of an earlier revision than the stored one changes nothing.
 */
export function updateHealthQuery(
  health: ReadonlyMap<string, DestinationHealth>,
  disableAfterMs: number,
): Query<DisabledDestination[]> {
  const values = [...health.values()];
  const query = updateHealth.query([
    [...health.keys()],
    values.map(({ revision }) => revision),
    values.map(({ succeeded }) => succeeded),
    values.map(({ goneReason }) => goneReason ?? null),
    disableAfterMs,
  ]);
  return mapQueryResult(query, (rows) => rows.filter(({ reason }) => reason !== null));
}

// The lateral subquery makes the planner look each destination up, where it otherwise may read all that is due.
const selectDisabledWithPending = defineStatement<{ id: string }>(
  'destinations_disabled_with_pending',
  `SELECT s.destination_id AS id
   FROM destination_states AS s CROSS JOIN LATERAL (
     SELECT FROM deliveries
     WHERE storage <> 'ended' AND state = 'due' AND destination_id = s.destination_id LIMIT 1
   ) AS due
   WHERE s.disabled_at IS NOT NULL`,
);

/**
 * The disabled destinations that have pending deliveries. The first pending delivery of each lane that keeps
 * the others waiting is due, so a destination without a due delivery has none that wait.
 */
export async function findDisabledWithPending(db: Queryable): Promise<string[]> {
  const rows = await selectDisabledWithPending.run(db);
  return rows.map(({ id }) => id);
}

const enableDestinations = defineStatement(
  'destinations_enable',
  `UPDATE destination_states AS s
   SET revision = d.revision, failing_since = NULL, disabled_at = NULL, disabled_reason = NULL
   FROM unnest($1::uuid[], $2::int[]) AS d (id, revision)
   WHERE s.destination_id = d.id AND s.revision < d.revision`,
);

/** Enables disabled destinations that were set again. `revisions` has their new revisions, by id. */
export function enableDestinationsQuery(revisions: ReadonlyMap<string, number>): Query<unknown> {
  return enableDestinations.query([[...revisions.keys()], [...revisions.values()]]);
}

const recordTestSuccess = defineStatement<{ wasDisabled: boolean }>(
  'destinations_test_success',
  `WITH before AS (
     SELECT destination_id, disabled_at IS NOT NULL AND revision = $2 AS was_disabled
     FROM destination_states WHERE destination_id = $1 AND revision <= $2 FOR UPDATE
   )
   UPDATE destination_states AS s
   SET revision = $2, last_success_at = now(), failing_since = NULL, disabled_at = NULL,
     disabled_reason = NULL
   FROM before WHERE s.destination_id = before.destination_id
   RETURNING before.was_disabled AS "wasDisabled"`,
);

// Nothing was sent to the destination before; or it was set again since, and the state is of the later revision.
const insertTestSuccess = defineStatement(
  'destinations_first_test_success',
  `INSERT INTO destination_states (destination_id, revision, last_success_at) VALUES ($1, $2, now())
   ON CONFLICT DO NOTHING`,
);

/**
 * Stores the success of a test event at a revision of the destination: the destination is failing no longer,
 * and enabled. Tells whether it was disabled at this revision.
 */
export async function storeTestSuccess(
  tx: Queryable,
  { destinationId, revision }: DestinationRevision,
): Promise<boolean> {
  const [row] = await recordTestSuccess.run(tx, [destinationId, revision]);
  if (row === undefined) await insertTestSuccess.run(tx, [destinationId, revision]);
  return row?.wasDisabled ?? false;
}

const selectDisabled = defineStatement<{ disabled: boolean }>(
  'destinations_disabled',
  `SELECT EXISTS (SELECT FROM destination_states
     WHERE destination_id = $1 AND disabled_at IS NOT NULL AND revision >= $2) AS disabled`,
);

/** Whether nothing is sent to the destination at this revision. */
export async function isDestinationDisabled(
  db: Queryable,
  { destinationId, revision }: DestinationRevision,
): Promise<boolean> {
  const [row] = await selectDisabled.run(db, [destinationId, revision]);
  return row?.disabled ?? false;
}
