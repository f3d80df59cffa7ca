/** Translates errors of the database into faults for the callers of a service. */
import type { Call } from '@creditlane/rpc/call';
import { unavailable } from '@creditlane/rpc/fault';
import { isContentionError, isDatabaseUnavailable } from './error-classes.ts';

/** Returns the fault, or the error itself when the database refused the statement. */
function databaseFault(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) return unavailable('the database is unavailable', 1, error);
  if (isContentionError(error)) return unavailable('the record is busy', 1, error);
  return error;
}

type AnyHandlers = Record<string, (request: never, call: Call) => Promise<unknown>>;

/** Returns the handlers with the errors of the database translated into faults `unavailable`. */
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
