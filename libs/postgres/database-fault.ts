/** What a failure of the database means to the caller of a service. */
import type { Call } from '@creditlane/rpc/call';
import { unavailable } from '@creditlane/rpc/fault';
import { isContentionError, isDatabaseUnavailable } from './error-classes.ts';

/** The error to answer a call with; of a call that lost against others, nothing was written. */
function databaseFault(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) return unavailable('the database is away', 1, error);
  if (isContentionError(error)) return unavailable('the record is busy', 1, error);
  return error;
}

type AnyHandlers = Record<string, (request: never, call: Call) => Promise<unknown>>;

/** The same handlers, which answer with `databaseFault` where the database failed them. */
export function translateDatabaseErrors<H extends AnyHandlers>(handlers: H): H {
  const guarded = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (request: never, call: Call) => {
      try {
        return await handler(request, call);
      } catch (error) {
        throw databaseFault(error);
      }
    },
  ]);
  return Object.fromEntries(guarded) as H;
}
