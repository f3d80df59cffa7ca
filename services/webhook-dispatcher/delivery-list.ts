/** The SQL of looking at deliveries: for operators, so on a cold path. */
import type { Pool } from 'pg';

export interface ListedAttempt {
  startedAt: string;
  durationMs: number;
  status: number | null;
  failure: string | null;
}

export interface ListedDelivery {
  id: string;
  eventId: string;
  destinationId: string;
  applicationId: string;
  creditorId: string;
  event: string;
  sequence: string | null;
  state: DeliveryStateName;
  reason: string | null;
  createdAt: Date;
  nextAttemptAt: Date | null;
  attempts: ListedAttempt[];
}

export type DeliveryStateName = 'waiting' | 'due' | 'delivered' | 'dead';

export interface ListRequest {
  applicationId: string | undefined;
  state: DeliveryStateName | undefined;
  /** Only those made before this one. */
  before: string | undefined;
  limit: number;
}

/** Deliveries with their attempts, newest first. */
export async function listDeliveries(pool: Pool, request: ListRequest): Promise<ListedDelivery[]> {
  const values: unknown[] = [request.limit];
  const conditions: string[] = [];
  if (request.applicationId !== undefined) {
    conditions.push(`d.application_id = $${values.push(request.applicationId)}`);
  }
  if (request.before !== undefined) conditions.push(`d.id < $${values.push(request.before)}`);
  // Written out, for the planner to see that the partial indexes serve. It is one of four words.
  if (request.state !== undefined) conditions.push(`d.state = '${request.state}'`);
  const { rows } = await pool.query<ListedDelivery>(
    `SELECT d.id, d.event_id AS "eventId", d.destination_id AS "destinationId",
       d.application_id AS "applicationId", m.creditor_id AS "creditorId", m.event,
       d.sequence, d.state, d.reason, d.created_at AS "createdAt",
       d.next_attempt_at AS "nextAttemptAt",
       ARRAY(SELECT jsonb_build_object('startedAt', a.started_at, 'durationMs', a.duration_ms,
           'status', a.status, 'failure', a.failure)
         FROM attempts AS a WHERE a.delivery_id = d.id ORDER BY a.number) AS attempts
     FROM deliveries AS d JOIN messages AS m USING (event_id)
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     ORDER BY d.id DESC LIMIT $1`,
    values,
  );
  return rows;
}
