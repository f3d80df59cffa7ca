/**
 * The SQL of what is known of destinations: who answers, who does not, and who gets nothing more. All
 * of it is about one revision of a destination; whatever comes of a later one begins anew.
 */
import { defineStatement, mapQueryResult, type Query } from '@creditlane/postgres/statement';

/** How a destination answered. */
export interface Health {
  readonly revision: number;
  readonly succeeded: boolean;
  /** Why it gets nothing more, where it said so itself; a stable word. */
  readonly gone?: string | undefined;
}

/** That a destination gets nothing more, and why: a stable word. */
export interface Disabling {
  readonly destinationId: string;
  readonly revision: number;
  readonly reason: string;
  /** Whether it was disabled just now. */
  readonly isNew: boolean;
}

// What is known of the same revision holds on; of a later one nothing is known yet.
const FAILING_SINCE = `CASE WHEN excluded.last_success_at IS NULL THEN coalesce(
  CASE WHEN s.revision = excluded.revision THEN s.failing_since END, excluded.failing_since) END`;
const TOO_LONG = `${FAILING_SINCE} < now() - $5 * interval '1 ms'`;

const noteHealth = defineStatement<Disabling>(
  'destinations_note_health',
  `INSERT INTO destination_states AS s (destination_id, revision, last_success_at, failing_since,
     disabled_at, disabled_reason)
   SELECT id, revision, CASE WHEN succeeded THEN now() END, CASE WHEN NOT succeeded THEN now() END,
     CASE WHEN gone IS NOT NULL THEN now() END, gone
   FROM unnest($1::uuid[], $2::int[], $3::boolean[], $4::text[])
     AS d (id, revision, succeeded, gone) ORDER BY id
   ON CONFLICT (destination_id) DO UPDATE SET
     revision = excluded.revision,
     last_success_at = coalesce(excluded.last_success_at, s.last_success_at),
     failing_since = ${FAILING_SINCE},
     disabled_at = coalesce(CASE WHEN s.revision = excluded.revision THEN s.disabled_at END,
       excluded.disabled_at, CASE WHEN ${TOO_LONG} THEN now() END),
     disabled_reason = coalesce(CASE WHEN s.revision = excluded.revision THEN s.disabled_reason END,
       excluded.disabled_reason, CASE WHEN ${TOO_LONG} THEN 'no_success' END)
   WHERE s.revision <= excluded.revision
   RETURNING destination_id AS "destinationId", revision, disabled_reason AS reason,
     disabled_at = now() AS "isNew"`,
);

/**
 * Notes who answered well and who did not, and disables those that are gone or had no success for
 * `patienceMs`. Gives those that are disabled then. What was set anew meanwhile goes on.
 */
export function notingHealth(
  news: ReadonlyMap<string, Health>,
  patienceMs: number,
): Query<Disabling[]> {
  const healths = [...news.values()];
  const query = noteHealth.query([
    [...news.keys()],
    healths.map(({ revision }) => revision),
    healths.map(({ succeeded }) => succeeded),
    healths.map(({ gone }) => gone ?? null),
    patienceMs,
  ]);
  return mapQueryResult(query, (rows) => rows.filter(({ reason }) => reason !== null));
}

const PENDING = `destination_id IN (
    SELECT destination_id FROM destination_states
    WHERE destination_id = ANY ($1::uuid[]) AND disabled_at IS NOT NULL
  ) AND state IN ('waiting', 'due')`;

const lockPending = defineStatement(
  'deliveries_lock_pending',
  `SELECT FROM deliveries WHERE ${PENDING}
   ORDER BY application_id, destination_id, position FOR UPDATE`,
);

const endPending = defineStatement(
  'deliveries_end_pending',
  `UPDATE deliveries
   SET state = 'dead', reason = 'destination_disabled', leased = false, settled_at = now()
   WHERE ${PENDING}`,
);

/**
 * Ends everything for those of the destinations that are disabled; requests under way may still count.
 * Two queries, in this order: the first waits for whoever is adding deliveries behind one that holds
 * them back, and only the second sees what was added.
 */
export function endingDisabled(
  destinationIds: readonly string[],
): [Query<unknown>, Query<unknown>] {
  return [lockPending.query([destinationIds]), endPending.query([destinationIds])];
}

const enable = defineStatement(
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
