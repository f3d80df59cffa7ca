/** The SQL that replays a delivery, alone or in a slice of a job. `application_id` holds the ordering key. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import type { DeliveryStateName } from '../delivery-states.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import {
  ANY_END,
  type EndTimes,
  endedWithinSql,
  endTimesOf,
  endTimesOfIds,
} from './history/end-times.ts';

/** Limits the attempts that are kept for a delivery: with the most RETRY_DELAYS, about 5,000. */
export const MAX_REPLAYS = 100;

/** The state that decides whether a delivery can be replayed. */
export interface ReplayableRow {
  state: DeliveryStateName;
  /** Whether an attempt is under way. */
  leased: boolean;
  replays: number;
  /** Whether the body never matched its schema, so that the delivery has no number and was never sent. */
  unsendable: boolean;
  destinationDisabled: boolean;
}

const lockEarlier = defineStatement<{ settledAt: Date | null; earlierId: string | null }>(
  'replay_lock_earlier',
  `SELECT replayed.settled_at AS "settledAt", earlier.id AS "earlierId"
   FROM deliveries AS replayed LEFT JOIN LATERAL (
     SELECT d.id FROM deliveries AS d
     WHERE d.application_id = replayed.application_id AND d.destination_id = replayed.destination_id
       AND d.position < replayed.position AND d.storage <> 'ended'
       AND (d.state IN ('waiting', 'due')) IS TRUE AND d.holding
     ORDER BY d.position LIMIT 1 FOR UPDATE OF d
   ) AS earlier ON true
   WHERE replayed.id = $1 AND replayed.destination_id = $2 AND ${endedWithinSql('replayed', '$3', '$4')}`,
);

/** What `lockEarlierPending` finds of a delivery to replay: when it ended, and whether it will wait for an earlier one. */
export interface ReplayStart {
  readonly endTimes: EndTimes;
  readonly waits: boolean;
}

/**
 * Locks the delivery that keeps its lane waiting, if it is earlier than the one to replay, and tells whether
 * there is one. Without the lock, its result could be recorded before the replayed delivery waits behind it,
 * and the promotion of the next delivery would miss the replayed one. Must run before `lockReplayable`:
 * deliveries of a lane are locked in their order. Undefined when the destination has no delivery with the id.
 *
 * @param likelyEnd where the delivery is searched first
 */
export async function lockEarlierPending(
  tx: Queryable,
  id: string,
  destinationId: string,
  likelyEnd = endTimesOfIds([id]),
): Promise<ReplayStart | undefined> {
  const find = async ({ from, to }: EndTimes) => {
    const [found] = await lockEarlier.run(tx, [id, destinationId, from, to]);
    return found;
  };
  const row = (await find(likelyEnd)) ?? (await find(ANY_END));
  return row && { endTimes: endTimesOf([row.settledAt]), waits: row.earlierId !== null };
}

const selectReplayable = defineStatement<ReplayableRow>(
  'replay_lock',
  `SELECT d.state, d.leased, d.replays, d.sequence IS NULL AS unsendable,
     EXISTS (SELECT FROM destination_states AS s
       WHERE s.destination_id = d.destination_id AND s.disabled_at IS NOT NULL
         AND s.revision >= $3) AS "destinationDisabled"
   FROM deliveries AS d
   WHERE d.id = $1 AND d.destination_id = $2 AND ${endedWithinSql('d', '$4', '$5')} FOR UPDATE OF d`,
);

/**
 * Locks the delivery to replay, and finds whether its destination is disabled at this revision or a later one.
 * Undefined when the destination has no delivery with the id.
 */
export async function lockReplayable(
  tx: Queryable,
  id: string,
  destination: DestinationRevision,
  { from, to }: EndTimes,
): Promise<ReplayableRow | undefined> {
  const values = [id, destination.destinationId, destination.revision, from, to];
  const [row] = await selectReplayable.run(tx, values);
  if (row !== undefined) return row;
  // Another replay that was waited for has put the delivery into the queue, where only a later statement sees it.
  const [again] = await selectReplayable.run(tx, values);
  return again;
}

const beginSeries = defineStatement(
  'replay_begin',
  `WITH ended AS (
     DELETE FROM deliveries AS d USING unnest($1::uuid[], $2::boolean[]) AS r (id, waits)
     WHERE d.id = r.id AND d.id = ANY ($1::uuid[]) AND ${endedWithinSql('d', '$3', '$4')}
     RETURNING d.*, r.waits
   )
   INSERT INTO deliveries (id, position, event_id, destination_id, application_id, sequence,
     created_at, state, leased, fence, attempts, earlier_attempts, replays, replayed_at,
     next_attempt_at)
   SELECT id, position, event_id, destination_id, application_id, sequence,
     created_at, CASE WHEN waits THEN 'waiting' ELSE 'due' END, false, fence + 1, attempts, attempts,
     replays + 1, now(), CASE WHEN NOT waits THEN now() END
   FROM ended`,
);

const endWait = defineStatement(
  'replay_due_now',
  `UPDATE deliveries SET next_attempt_at = least(next_attempt_at, now())
   WHERE id = $1 AND storage <> 'ended' AND state = 'due' AND NOT leased`,
);

/** Makes a delivery that waits for its next attempt due now. The caller has locked its row. */
export async function makeDueNow(tx: Queryable, id: string): Promise<void> {
  await endWait.run(tx, [id]);
}

/** A delivery to replay, and whether it waits for an earlier one of its lane. */
export interface Replay {
  readonly id: string;
  readonly waits: boolean;
}

/** Begins a new series of attempts for each delivery, which is locked: at once, or when its lane is free. */
export async function beginReplays(
  tx: Queryable,
  replays: readonly Replay[],
  { from, to }: EndTimes,
): Promise<void> {
  const ids = replays.map(({ id }) => id);
  const waits = replays.map((replay) => replay.waits);
  await beginSeries.run(tx, [ids, waits, from, to]);
}
