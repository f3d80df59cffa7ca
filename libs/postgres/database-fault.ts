/** Translates errors of the database into faults for the callers of a service. */
import { unavailable } from '@creditlane/rpc/fault';
import type { AnyHandler, ServiceRoutes } from '@creditlane/rpc/service';
import { isContentionError, isDatabaseUnavailable } from './error-classes.ts';

/** The routes, whose handlers fail with the fault `unavailable` where the database did not carry out a statement. */
export function translateDatabaseErrors(services: readonly ServiceRoutes[]): ServiceRoutes[] {
  return services.map(({ service, routes }) => ({
    service,
    routes: routes.map(({ method, handler }) => ({ method, handler: translating(handler) })),
  }));
}

function translating(handler: AnyHandler): AnyHandler {
  return async (request, call) => {
    try {
      return await handler(request, call);
    } catch (error) {
      throw databaseFault(error);
    }
  };
}

/** Returns the fault, or the error itself when the database refused the statement. */
function databaseFault(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) return unavailable('the database is unavailable', 1, error);
  if (isContentionError(error)) return unavailable('the record is busy', 1, error);
  return error;
}
