/** Records decisions: those that come at the same time go to the database together. */
import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import type { Queryable } from '@creditlane/postgres/statement';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import type { Log } from '@creditlane/runtime/telemetry/log';
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
export function recordingTogether(db: Queryable, log: Log): RecordDecision {
  const record = async (writes: readonly DecisionWrite[]) => {
    try {
      return await recordDecisions(db, writes);
    } catch (err) {
      // Nobody knows what became of them.
      if (isDatabaseUnavailable(err)) throw err;
      // Nothing was written. Why not is told to whom it concerns; the rest are only slower.
      log.info(
        { err, decisions: writes.length },
        'decisions not recorded together; each by itself',
      );
      return writes.map(() => undefined);
    }
  };
  const rounds = new Batcher(record, { maxConcurrent: ROUNDS_AT_ONCE, maxItems: MAX_ROUND });
  return async (write) => (await rounds.add(write)) ?? recordDecision(db, write);
}
