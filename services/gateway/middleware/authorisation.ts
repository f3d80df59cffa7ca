/** Checks the caller's access to the operation and finds its scope, by the rules of access.ts. */
import type { Access } from '../access/access.ts';
import type { OperationMiddleware } from '../request-state.ts';

/** Throws a Fault when the caller may not use the operation at all. */
export function admitCaller(access: Access): OperationMiddleware {
  return function admitCaller({ state }, next) {
    access.admit(state.caller, state.operation.access);
    return next();
  };
}

/** Sets `ctx.state.identity`, in whose name the services are called. */
export function authorise(access: Access): OperationMiddleware {
  return async function authorise({ state }, next) {
    const { caller, operation, parameters, body, limits } = state;
    const target = operation.access.target(parameters, body);
    state.identity = await access.identity(caller, operation.access, target, limits);
    await next();
  };
}
