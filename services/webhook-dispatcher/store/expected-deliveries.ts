/** The SQL that compares the deliveries of events with their recipients, as the inbox has their number. */
import { defineStatement, type Query, type Queryable } from '@creditlane/postgres/statement';
import { SERVICE } from '../destinations/destinations.ts';

const selectTooFew = defineStatement<{ event_id: string }>(
  'expected_deliveries_missing',
  `SELECT event_id FROM inbox AS i
   WHERE consumer = $1 AND event_id = ANY ($2::uuid[])
     AND expected_effects > (SELECT count(*) FROM deliveries AS d WHERE d.event_id = i.event_id)`,
);

/** Of these events, those with fewer deliveries than recipients. */
export async function findTooFewDeliveries(
  db: Queryable,
  eventIds: readonly string[],
): Promise<string[]> {
  const rows = await selectTooFew.run(db, [SERVICE, eventIds]);
  return rows.map(({ event_id }) => event_id);
}

const clearExpected = defineStatement(
  'expected_deliveries_clear',
  `UPDATE inbox SET expected_effects = 0 WHERE consumer = $1 AND event_id = ANY ($2::uuid[])`,
);

/** For events that come after a later one of their series, and so have no delivery. */
export function expectNoDeliveriesQuery(eventIds: readonly string[]): Query<unknown> {
  return clearExpected.query([SERVICE, eventIds]);
}
