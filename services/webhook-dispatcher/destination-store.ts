/**
 * The SQL of what is known of destinations: who answers, who does not, and who gets nothing more. All
 * of it is about one revision of a destination; whatever comes of a later one begins anew.
 */
import { type Query, reading, statement } from '@creditlane/postgres/statement';

/** How a destination answered. */
export interface Health {
  readonly revision: number;
  readonly succeeded: boolean;
}

/** That a destination is to get nothing more, and why: a stable word. */
export interface Disabling {
  readonly destinationId: string;
  readonly revision: number;
  readonly reason: string;
}

const noteHealth = statement<{ destination_id: string; revision: number; too_long: boolean }>(
  'destinations_note_health',
  `INSERT INTO destination_states AS s (destination_id, revision, last_success_at, failing_since)
   SELECT id, revision, CASE WHEN succeeded THEN now() END, CASE WHEN NOT succeeded THEN now() END
   FROM unnest($1::uuid[], $2::int[], $3::boolean[]) AS d (id, revision, succeeded) ORDER BY id
   ON CONFLICT (destination_id) DO UPDATE SET
     revision = excluded.revision,
     last_success_at = coalesce(excluded.last_success_at, s.last_success_at),
     failing_since = CASE WHEN excluded.last_success_at IS NULL THEN coalesce(
       CASE WHEN s.revision = excluded.revision THEN s.failing_since END,
       excluded.failing_since) END,
     disabled_at = CASE WHEN s.revision = excluded.revision THEN s.disabled_at END,
     disabled_reason = CASE WHEN s.revision = excluded.revision THEN s.disabled_reason END
   WHERE s.revision <= excluded.revision
   RETURNING destination_id, revision,
     disabled_at IS NULL AND coalesce(failing_since < now() - $4 * interval '1 ms', false) AS too_long`,
);

/** Notes who answered well and who did not; gives those that had no success for `patienceMs`. */
export function notingHealth(
  news: ReadonlyMap<string, Health>,
  patienceMs: number,
): Query<Disabling[]> {
  const healths = [...news.values()];
  const query = noteHealth.query([
    [...news.keys()],
    healths.map(({ revision }) => revision),
    healths.map(({ succeeded }) => succeeded),
    patienceMs,
  ]);
  return reading(query, (rows) =>
    rows
      .filter(({ too_long }) => too_long)
      .map(({ destination_id: destinationId, revision }) => {
        return { destinationId, revision, reason: 'no_success' };
      }),
  );
}

const disable = statement<{ destination_id: string; is_new: boolean }>(
  'destinations_disable',
  `WITH disabled AS (
     UPDATE destination_states AS s
     SET disabled_at = coalesce(s.disabled_at, now()),
       disabled_reason = coalesce(s.disabled_reason, d.reason)
     FROM unnest($1::uuid[], $2::int[], $3::text[]) AS d (id, revision, reason)
     WHERE s.destination_id = d.id AND s.revision = d.revision
     RETURNING s.destination_id, s.disabled_at = now() AS is_new
   ), pending AS MATERIALIZED (
     SELECT id FROM deliveries
     WHERE destination_id IN (SELECT destination_id FROM disabled) AND state IN ('waiting', 'due')
     ORDER BY application_id, destination_id, position FOR UPDATE
   ), ended AS (
     UPDATE deliveries AS d
     SET state = 'dead', reason = 'destination_disabled', leased = false, settled_at = now()
     FROM pending WHERE d.id = pending.id
   )
   SELECT destination_id, is_new FROM disabled`,
);

/**
 * Ends everything for destinations whose health was noted at that revision; what was set anew goes on.
 * Gives the ids of those that are disabled now, and whether they were not before. Requests under way
 * may still count.
 */
export function disablingDestinations(
  disablings: readonly Disabling[],
): Query<Map<string, boolean>> {
  const query = disable.query([
    disablings.map(({ destinationId }) => destinationId),
    disablings.map(({ revision }) => revision),
    disablings.map(({ reason }) => reason),
  ]);
  return reading(
    query,
    (rows) => new Map(rows.map(({ destination_id, is_new }) => [destination_id, is_new])),
  );
}

const enable = statement(
  'destinations_enable',
  `UPDATE destination_states AS s
   SET revision = d.revision, failing_since = NULL, disabled_at = NULL, disabled_reason = NULL
   FROM unnest($1::uuid[], $2::int[]) AS d (id, revision)
   WHERE s.destination_id = d.id AND s.revision < d.revision`,
);

/** Notes that destinations were set anew: their later revisions, by id. */
export function enablingDestinations(revisions: ReadonlyMap<string, number>): Query<unknown> {
  return enable.query([[...revisions.keys()], [...revisions.values()]]);
}
