/** What a failure of the database means to the caller of a service. */
import type { Call } from '@creditlane/rpc/call';
import { conflict, unavailable } from '@creditlane/rpc/fault';
import { isContention, isOutage } from './outage.ts';

/** SQLSTATE lock_not_available: another write held a row for longer than we wait. */
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * The error to answer a call with. A wait in vain for a row means, to a call with an idempotency
 * key, that its twin may be the one still at work; nothing of this call was written.
 */
function databaseFault(error: unknown, { idempotency }: Pick<Call, 'idempotency'>): unknown {
  if (isOutage(error)) return unavailable('the database is away', 1, error);
  if (!isContention(error)) return error;
  const awaitedTwin = idempotency !== undefined && codeOf(error) === LOCK_NOT_AVAILABLE;
  if (!awaitedTwin) return unavailable('the record is busy', 1, error);
  return conflict(
    'idempotency_in_progress',
    'An earlier request with this Idempotency-Key may still be under way.',
  );
}

type AnyHandlers = Record<string, (request: never, call: Call) => Promise<unknown>>;

/** The same handlers, which answer with `databaseFault` where the database failed them. */
export function onDatabase<H extends AnyHandlers>(handlers: H): H {
  const guarded = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (request: never, call: Call) => {
      try {
        return await handler(request, call);
      } catch (error) {
        throw databaseFault(error, call);
      }
    },
  ]);
  return Object.fromEntries(guarded) as H;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
