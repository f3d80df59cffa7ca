/** The SQL by which operators read dead deliveries, and have them sent again. */
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { NIL_UUID } from '@creditlane/runtime/ids';

export interface DeadDeliveryRow {
  id: string;
  eventId: string;
  destinationId: string;
  event: string;
  orderingKey: string;
  sequence: number | null;
  reason: string | null;
  attempts: number;
  replays: number;
  createdAt: Date;
  settledAt: Date | null;
}

const COLUMNS = `d.id, d.event_id AS "eventId", d.destination_id AS "destinationId", m.event,
     d.application_id AS "orderingKey", d.sequence, d.reason, d.attempts, d.replays,
     d.created_at AS "createdAt", d.settled_at AS "settledAt"`;

// Two statements, each in the order of an index: that of the dead, and that of a destination's deliveries.
const selectPage = defineStatement<DeadDeliveryRow>(
  'dead_deliveries_list',
  `SELECT ${COLUMNS} FROM deliveries AS d JOIN messages AS m USING (event_id)
   WHERE d.state = 'dead' AND ($1::uuid IS NULL OR d.id > $1) ORDER BY d.id LIMIT $2`,
);

const selectPageOfDestination = defineStatement<DeadDeliveryRow>(
  'dead_deliveries_list_by_destination',
  `SELECT ${COLUMNS} FROM deliveries AS d JOIN messages AS m USING (event_id)
   WHERE d.state = 'dead' AND d.destination_id = $3
     AND (d.created_at, d.id) > (
       coalesce((SELECT created_at FROM deliveries WHERE id = $1), '-infinity'),
       coalesce($1, '${NIL_UUID}'))
   ORDER BY d.created_at, d.id LIMIT $2`,
);

/** The dead deliveries after the one with the id `after`, of one destination or of all. */
export function findDeadDeliveries(
  db: Queryable,
  { after, destinationId, limit }: { after?: string; destinationId?: string; limit: number },
): Promise<DeadDeliveryRow[]> {
  return destinationId === undefined
    ? selectPage.run(db, [after ?? null, limit])
    : selectPageOfDestination.run(db, [after ?? null, limit, destinationId]);
}

const selectAny = defineStatement<{ found: boolean }>(
  'dead_delivery_exists',
  `SELECT EXISTS (SELECT FROM deliveries AS d JOIN messages AS m USING (event_id)
     WHERE d.state = 'dead' AND d.destination_id = $1
       AND ($2::text IS NULL OR m.event = $2)) AS found`,
);

/** Whether a destination has a dead delivery, of an event type or of any. */
export async function hasDeadDelivery(
  db: Queryable,
  destinationId: string,
  event: string | null,
): Promise<boolean> {
  const [row] = await selectAny.run(db, [destinationId, event]);
  return row?.found === true;
}

const selectOne = defineStatement<DeadDeliveryRow & { state: string }>(
  'dead_delivery_find',
  `SELECT ${COLUMNS}, d.state FROM deliveries AS d JOIN messages AS m USING (event_id) WHERE d.id = $1`,
);

/** A delivery in any state: one that is sent again is dead no more. */
export async function findDelivery(db: Queryable, id: string) {
  const [row] = await selectOne.run(db, [id]);
  return row;
}

const insertRedrive = defineStatement(
  'delivery_redrive_insert',
  'INSERT INTO delivery_redrives (requested_by, delivery_id, replay_id) VALUES ($1, $2, $3)',
);

/** Records who had a delivery, or by a replay job the deliveries of a destination, sent again. */
export async function insertDeliveryRedrive(
  tx: Queryable,
  requestedBy: string,
  { deliveryId, replayId }: { deliveryId?: string; replayId?: string },
): Promise<void> {
  await insertRedrive.run(tx, [requestedBy, deliveryId ?? null, replayId ?? null]);
}

const selectRedrives = defineStatement(
  'delivery_redrives_list',
  `SELECT r.requested_by AS "requestedBy", r.requested_at AS "requestedAt",
     r.delivery_id AS "deliveryId", d.state AS "deliveryState", r.replay_id AS "replayId",
     j.destination_id AS "destinationId", j.state AS "replayState",
     j.reason AS "replayReason", j.matched, j.replayed, j.skipped
   FROM delivery_redrives AS r LEFT JOIN replay_jobs AS j ON j.id = r.replay_id
   LEFT JOIN deliveries AS d ON d.id = r.delivery_id
   ORDER BY r.id DESC LIMIT $1`,
);

/** The last redrives of deliveries, newest first, and how far they are. */
export function findDeliveryRedrives(db: Queryable, limit: number): Promise<object[]> {
  return selectRedrives.run(db, [limit]);
}
