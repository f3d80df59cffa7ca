/** The progress of events: which events an outbox has, and whether a consumer has handled them. */
import type { Topic } from '@creditlane/events/topics';
import type pg from 'pg';
import { findUnhandled } from './reconciliation/differences.ts';

/** The ids of the `newest` last events of an outbox, by topic; of all its events when left out. */
export async function readWrittenEvents(
  pool: pg.Pool,
  newest?: number,
): Promise<{ topic: Topic; ids: string[] }[]> {
  const { rows } = await pool.query<{ topic: Topic; ids: string[] }>(
    `SELECT topic, array_agg(event_id) AS ids
     FROM (SELECT topic, event_id FROM outbox ORDER BY id DESC LIMIT $1) AS written GROUP BY topic`,
    // LIMIT NULL is no limit.
    [newest ?? null],
  );
  return rows;
}

/** Whether the consumer has handled every event, or stored it as a dead letter. */
export async function areEventsHandled(
  pool: pg.Pool,
  consumer: string,
  eventIds: readonly string[],
): Promise<boolean> {
  return (await findUnhandled(pool, consumer, eventIds)).length === 0;
}
