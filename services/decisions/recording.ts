/** Records decisions: those that come at the same time go to the database together. */
import { isOutage } from '@creditlane/postgres/outage';
import type { Queryable } from '@creditlane/postgres/statement';
import { Gathering } from '@creditlane/runtime/gathering';
import { type DecisionWrite, recordDecision, recordDecisions } from './decision-store.ts';

/** As `recordDecision` of the store, whose promises it keeps. */
export type RecordDecision = (write: DecisionWrite) => Promise<number | undefined>;

/** Some are planned and written while the commits of others wait for the disk. */
const ROUNDS_AT_ONCE = 3;
const MAX_ROUND = 64;

/**
 * A statement for many decisions costs a fraction of as many statements. It writes those that need
 * wait for nobody; each other one, and each of a round that the database refused, goes by itself.
 */
export function recordingTogether(db: Queryable): RecordDecision {
  const rounds = new Gathering<DecisionWrite, number | undefined>(
    (writes) => recordDecisions(db, writes).catch((error) => noneOf(writes, error)),
    { atOnce: ROUNDS_AT_ONCE, maxItems: MAX_ROUND },
  );
  return async (write) => (await rounds.add(write)) ?? recordDecision(db, write);
}

/** Nothing was written, as far as the database said so. After an outage nobody knows. */
function noneOf(writes: readonly DecisionWrite[], error: unknown): undefined[] {
  if (isOutage(error)) throw error;
  return writes.map(() => undefined);
}
