/** The SQL by which the owner of a destination pauses and resumes it, and reads its state. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { DestinationRevision } from '../events/webhook-event-type.ts';

// Without a probe id, the end of a probe that is under way changes nothing.
const upsertPause = defineStatement(
  'destination_pause',
  `INSERT INTO open_breakers (destination_id, revision, failures, probe_at, paused_until)
   VALUES ($1, $2, 0, now() + $3 * interval '1 hour', now() + $3 * interval '1 hour')
   ON CONFLICT (destination_id) DO UPDATE SET revision = greatest(open_breakers.revision, excluded.revision),
     failures = 0, probe_id = NULL, probe_at = excluded.probe_at, paused_until = excluded.paused_until`,
);

/** Pauses the destination for `hours` from now on. A pause that it has is replaced. */
export async function pauseDestination(
  tx: Queryable,
  { destinationId, revision }: DestinationRevision,
  hours: number,
): Promise<void> {
  await upsertPause.run(tx, [destinationId, revision, hours]);
}

const endPause = defineStatement(
  'destination_resume',
  `UPDATE open_breakers SET failures = 0, probe_at = now(), paused_until = now()
   WHERE destination_id = $1 AND paused_until > now()`,
);

/** Ends the pause: a probe is due, after whose success all else is sent. A destination that is not paused stays as it is. */
export async function resumeDestination(tx: Queryable, destinationId: string): Promise<void> {
  await endPause.run(tx, [destinationId]);
}

/** What its owner sees of a destination. Of a revision before the present one, only the last success counts. */
export interface DestinationStateRow {
  readonly lastSuccessAt: Date | null;
  readonly failingSince: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: string | null;
  readonly pausedUntil: Date | null;
}

const selectState = defineStatement<DestinationStateRow>(
  'destination_state_find',
  `SELECT s.last_success_at AS "lastSuccessAt",
     CASE WHEN s.revision >= $2 THEN s.failing_since END AS "failingSince",
     CASE WHEN s.revision >= $2 THEN s.disabled_at END AS "disabledAt",
     CASE WHEN s.revision >= $2 THEN s.disabled_reason END AS "disabledReason",
     CASE WHEN b.paused_until > now() THEN b.paused_until END AS "pausedUntil"
   FROM (SELECT $1::uuid AS id) AS destination
   LEFT JOIN destination_states AS s ON s.destination_id = destination.id
   LEFT JOIN open_breakers AS b ON b.destination_id = destination.id`,
);

export async function findDestinationState(
  db: Queryable,
  { destinationId, revision }: DestinationRevision,
): Promise<DestinationStateRow> {
  const [row] = await selectState.run(db, [destinationId, revision]);
  if (row === undefined) throw new Error('the statement returns a row for every destination');
  return row;
}
