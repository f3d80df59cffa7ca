/** The SQL that compares the deliveries of events with their recipients, as the inbox has their number. */
import { defineStatement, type Query, type Queryable } from '@creditlane/postgres/statement';
import { SERVICE } from '../../service-name.ts';
import { ANY_END, type EndTimes, endedWithinSql, endTimesOfIds } from '../history/end-times.ts';

// Both tables are read once for all events, by their indexes: a subquery for each event would look into every day since
// then for it. A join would compare each event with each, because the planner expects few of them.
const selectTooFew = defineStatement<{ eventId: string }>(
  'expected_deliveries_missing',
  `SELECT event_id AS "eventId" FROM (
     SELECT event_id, expected_effects AS missing FROM inbox
     WHERE consumer = $1 AND event_id = ANY ($2::uuid[]) AND expected_effects > 0
     UNION ALL
     SELECT d.event_id, -1 FROM deliveries AS d
     WHERE d.event_id = ANY ($2::uuid[]) AND ${endedWithinSql('d', '$3', '$4')}
   ) AS compared
   GROUP BY event_id HAVING sum(missing) > 0`,
);

/**
 * Of these events, those with fewer deliveries than recipients. What the days since the events seem not to have is looked up
 * in all days: a writer whose clock was days ahead has made ids later than the ends of their deliveries. For the events `known`
 * this was done when they were found; the days since the event and the last one have the deliveries that ended afterwards.
 */
export async function findTooFewDeliveries(
  db: Queryable,
  eventIds: readonly string[],
  known: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const find = async (ids: readonly string[], { from, to }: EndTimes) => {
    const rows = await selectTooFew.run(db, [SERVICE, ids, from, to]);
    return rows.map(({ eventId }) => eventId);
  };
  const suspects = await find(eventIds, endTimesOfIds(eventIds));
  const unknown = suspects.filter((id) => !known.has(id));
  const found = unknown.length > 0 ? await find(unknown, ANY_END) : [];
  return [...suspects.filter((id) => known.has(id)), ...found];
}

const clearExpected = defineStatement(
  'expected_deliveries_clear',
  `UPDATE inbox SET expected_effects = 0 WHERE consumer = $1 AND event_id = ANY ($2::uuid[])`,
);

/** For events that come after a later one of their series, and so have no delivery. */
export function expectNoDeliveriesQuery(eventIds: readonly string[]): Query<unknown> {
  return clearExpected.query([SERVICE, eventIds]);
}
