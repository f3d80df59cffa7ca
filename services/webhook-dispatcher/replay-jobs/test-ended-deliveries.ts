/** For tests: deliveries to a destination as they are after their end. */
import { randomUUID } from 'node:crypto';
import type { TestFixture } from '../test-fixture.ts';

export interface TestEndedDeliveries {
  destinationId: string;
  count: number;
  /** The deliveries belong to so many applications in turns; each has its own lane. */
  applications?: number;
  state?: 'dead' | 'delivered';
  event?: string;
  /** Of the first; each further one was created a second later. */
  createdAt?: Date;
}

/** Inserts deliveries, and returns the ids of their applications. */
export async function addEndedDeliveries(
  { sql, creditorId }: TestFixture,
  { destinationId, count, applications = count, ...options }: TestEndedDeliveries,
): Promise<string[]> {
  const { state = 'dead', event = 'applicationBooked' } = options;
  const { createdAt = new Date(Date.now() - 86_400_000) } = options;
  const applicationIds = Array.from({ length: applications }, () => randomUUID());
  await sql.query(
    `WITH ended AS (
       SELECT gen_random_uuid() AS id, gen_random_uuid() AS event_id,
         ($1::uuid[])[(n - 1) % $2 + 1] AS application_id, (n - 1) / $2 + 1 AS sequence,
         $3::timestamptz + n * interval '1 second' AS created_at
       FROM generate_series(1, $4::int) AS n
     ), message AS (
       INSERT INTO messages (event_id, event, creditor_id, body, recorded_at)
       SELECT event_id, $5, $6, jsonb_build_object('applicationId', application_id), created_at
       FROM ended
     )
     INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, reason,
       leased, fence, attempts, created_at, settled_at)
     SELECT id, event_id, $7, application_id, sequence, $8,
       CASE $8 WHEN 'dead' THEN 'attempts_exhausted' END, false, 1, 1, created_at, created_at
     FROM ended ORDER BY created_at`,
    [applicationIds, applications, createdAt, count, event, creditorId, destinationId, state],
  );
  return applicationIds;
}
