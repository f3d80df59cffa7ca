/** Finds the caller by the Authorization header, and leaves it in `ctx.state.caller`. */
import type { Caller, Callers } from '../access/callers.ts';
import type { OperationContext, OperationMiddleware } from '../request-state.ts';

/** Throws an `unauthenticated` Fault when the key is missing, unknown or revoked. */
export function findCaller(callers: Callers): OperationMiddleware {
  return function findCaller(ctx, next) {
    const found = callers.find(ctx.req.headers.authorization, ctx.state.limits);
    if (!(found instanceof Promise)) return withCaller(ctx, found, next);
    return found.then((caller) => withCaller(ctx, caller, next));
  };
}

function withCaller({ state }: OperationContext, caller: Caller, next: () => Promise<unknown>) {
  state.caller = caller;
  return next();
}
