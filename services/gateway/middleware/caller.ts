/** Finds the caller by the Authorization header, and leaves it in `ctx.state.caller`. */
import type { Access } from '../access/access.ts';
import type { Caller, Callers } from '../access/callers.ts';
import type { OperationContext, OperationMiddleware } from '../request-state.ts';

/**
 * How long a request may go on with the caller that it has found. The lookup may be cached for 4.5 s, and a revoked key
 * is promised to stop within 5 s.
 */
const PRESENT_MS = 250;

/** Throws an `unauthenticated` Fault when the key is missing, unknown or revoked. */
export function findCaller(callers: Callers): OperationMiddleware {
  return function findCaller(ctx, next) {
    const found = callers.find(ctx.req.headers.authorization, ctx.state.limits);
    if (!(found instanceof Promise)) return withCaller(ctx, found, next);
    return found.then((caller) => withCaller(ctx, caller, next));
  };
}

/**
 * Finds the caller again, and checks its access to the operation again, when the body took long to arrive:
 * a key that was revoked meanwhile must not write.
 */
export function confirmCaller(callers: Callers, access: Access): OperationMiddleware {
  return function confirmCaller(ctx, next) {
    const { state, req } = ctx;
    if (performance.now() - state.startedMs < PRESENT_MS) return next();
    return confirmed();

    async function confirmed() {
      state.caller = await callers.find(req.headers.authorization, state.limits);
      access.admit(state.caller, state.operation.access);
      await next();
    }
  };
}

function withCaller({ state }: OperationContext, caller: Caller, next: () => Promise<unknown>) {
  state.caller = caller;
  return next();
}
