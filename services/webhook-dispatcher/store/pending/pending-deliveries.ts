/**
 * What the SQL of pending deliveries has in common. `application_id` holds the ordering key. Pending deliveries are all those
 * that are not stored as ended.
 *
 * Joins of given ids with deliveries leave PostgreSQL no plan but to look each id up. By the statistics of an empty queue, as after a
 * VACUUM before a burst, reading the whole queue costs as little, and a claim in a queue of 20,000 then took 2.4 s:
 * - `d.id = ANY (ARRAY[x.id])`, because `d.id = x.id` also allows to merge, for which the index is read from end to end. The service's
 *   connections make no sequential scans (`service.ts`).
 * - `(…) IS TRUE` around conditions that compare another column with the other table, or that a partial index repeats. `storage` stays
 *   outside: it chooses the partitions.
 * - `ORDER BY (a, b, c)`, one row, where rows are locked: an index has the order of the three columns.
 * - `NOT IN`, of columns without NULL, instead of NOT EXISTS, which becomes a join.
 */
import type { LeasedDelivery } from '../../queue/delivery.ts';

/** SQL of a `LeasedDelivery` from the delivery `d` and its message `m`: three statements lease deliveries. */
export const LEASED_COLUMNS = `d.id, d.fence, d.attempts - d.earlier_attempts AS attempts, d.replays,
     d.application_id AS "orderingKey", d.destination_id AS "destinationId", d.sequence,
     m.event, m.body, m.reference, m.recorded_at AS "recordedAt", m.traceparent,
     (extract(epoch FROM now() - d.created_at) * 1000)::float8 AS "ageMs"`;

/**
 * Joins each of the `rows` with its message `m`. OFFSET 0 keeps the message a lookup by its id: by the statistics of small
 * partitions, a join that reads the messages of all days seems as good.
 */
export const messageOfSql = (rows: string) => `CROSS JOIN LATERAL (
     SELECT event, body, reference, recorded_at, traceparent FROM messages
     WHERE event_id = ${rows}.event_id OFFSET 0
   ) AS m`;

export const idsOf = (deliveries: readonly LeasedDelivery[]) => deliveries.map(({ id }) => id);
export const fencesOf = (deliveries: readonly LeasedDelivery[]) =>
  deliveries.map(({ fence }) => fence);
