/** Inserts decisions in rounds: decisions that arrive while a round is being written share the next statement. */
import { isDatabaseUnavailable } from '@creditlane/postgres/error-classes';
import {
  type RequestPool,
  scopeOf,
  unionOfScopes,
} from '@creditlane/postgres/row-security/request-pool';
import type { Call } from '@creditlane/rpc/call';
import { rowOf } from '@creditlane/rpc/submission';
import { Batcher } from '@creditlane/runtime/concurrency/batcher';
import type { Log } from '@creditlane/runtime/telemetry/log';
import { insertFree, insertOne } from './insert-decisions.ts';
import type { NewDecision } from './new-decision.ts';

type DecisionCall = Pick<Call, 'identity' | 'idempotency' | 'signal'>;

/** Inserts a decision in the scope of its call; resolves and rejects as `insertOne` does. */
export type InsertInRounds = (row: NewDecision, call: DecisionCall) => Promise<number | undefined>;

interface CalledDecision {
  row: NewDecision;
  call: DecisionCall;
}

/** More than one, so that a round is executed while the commits of other rounds wait for the disk. */
const ROUNDS_AT_ONCE = 3;
const MAX_ROUND_ROWS = 64;

/**
 * One statement for many decisions costs a fraction of one statement for each, but writes only the
 * decisions that need not wait for a lock. The others of the round are inserted one by one, in the turns of
 * their submissions. When the database refuses a round, all its decisions are inserted one by one, so that
 * only the bad one fails. The scope of a round's statement covers the rows of all its calls.
 */
export function createInsertInRounds(requests: RequestPool, log: Log): InsertInRounds {
  const insertRound = async (round: readonly CalledDecision[]) => {
    const rows = round.map(({ row }) => row);
    const scope = unionOfScopes(round.map(({ call }) => scopeOf(call)));
    try {
      return await insertFree(requests.within(scope), rows);
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
  return async (row, call) =>
    (await batcher.add({ row, call })) ??
    insertOne(requests.of(call).onRow(rowOf(row.submission)), row);
}
