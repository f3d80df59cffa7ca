/**
 * When deliveries have ended. Statements that find deliveries by ids look into the partitions of these days only, instead
 * of those of all days.
 */
import { timeOfId } from '@creditlane/runtime/ids';

/** The first and the last time at which any of the deliveries can have ended. */
export interface EndTimes {
  readonly from: Date | '-infinity';
  readonly to: Date | 'infinity';
}

/** Far more than the clocks of replicas and database differ, and than a transaction takes that ends a delivery. */
const MARGIN_MS = 86_400_000;
/** A time of PostgreSQL has microseconds, which a Date loses. */
const ROUNDING_MS = 1;

/** SQL that holds for each row that has not ended, and for one that has ended between the two parameters. */
export const endedWithinSql = (row: string, from: string, to: string) =>
  `(${row}.storage <> 'ended' OR ${row}.settled_at BETWEEN ${from}::timestamptz AND ${to}::timestamptz)`;

/** For a delivery that was not found: the clock of the process that made its id may have been days ahead. */
export const ANY_END: EndTimes = { from: '-infinity', to: 'infinity' };

/** Of deliveries by their ids, or by those of their events: none has ended before it was made. */
export function endTimesOfIds(ids: readonly string[]): EndTimes {
  const firstMs = ids.reduce((ms, id) => Math.min(ms, timeOfId(id) ?? 0), Date.now());
  return { from: new Date(firstMs - MARGIN_MS), to: 'infinity' };
}

/** Of deliveries that were read, by their `settled_at`: one that was pending can have ended since. */
export function endTimesOf(settledAt: readonly (Date | null)[]): EndTimes {
  const times = settledAt.filter((at) => at !== null).map((at) => at.getTime());
  const pending = times.length < settledAt.length;
  if (pending) times.push(Date.now() - MARGIN_MS);
  return {
    from: new Date(times.reduce((a, b) => Math.min(a, b), Date.now()) - ROUNDING_MS),
    to: pending ? 'infinity' : new Date(times.reduce((a, b) => Math.max(a, b), 0) + ROUNDING_MS),
  };
}
