/** Inserts decisions in rounds: decisions that arrive while others are being written share a statement. */
import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import type { Queryable } from '@creditlane/postgres/statement';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { insertDecision, type NewDecision } from './insert-decision.ts';
import { insertDecisions } from './insert-decisions.ts';

/** Keeps the promises of `insertDecision`. */
export type InsertDecision = (row: NewDecision) => Promise<number | undefined>;

/** One round is planned and executed while the commits of others wait for the disk. */
const ROUNDS_AT_ONCE = 3;
const MAX_ROUND_ROWS = 64;

/**
 * A statement for many decisions costs a fraction of as many statements, and writes only decisions
 * that need not wait. Every other decision is inserted alone, as is each decision of a round that the
 * database refused, so that one bad decision fails by itself.
 */
export function createBatchedInsert(db: Queryable, log: Log): InsertDecision {
  const insertRound = async (rows: readonly NewDecision[]) => {
    try {
      return await insertDecisions(db, rows);
    } catch (err) {
      // The round's outcome is unknown: the connection was lost before the answer.
      if (isDatabaseUnavailable(err)) throw err;
      log.info(
        { err, decisions: rows.length },
        'the database refused a round of decisions; each is inserted alone',
      );
      return rows.map(() => undefined);
    }
  };
  const batcher = new Batcher(insertRound, {
    maxConcurrent: ROUNDS_AT_ONCE,
    maxItems: MAX_ROUND_ROWS,
  });
  return async (row) => (await batcher.add(row)) ?? insertDecision(db, row);
}
