/** Finds the caller, which it leaves in `ctx.state.caller`, and checks its access by the rules of access.ts. */
import type { Access } from '../access/access.ts';
import type { Caller, Callers } from '../access/callers.ts';
import type { OperationContext, OperationMiddleware } from '../request-state.ts';

/**
 * How long a request may go on with the caller that it has found. The lookup may be cached for 4.5 s, and a revoked key
 * is promised to stop within 5 s.
 */
const PRESENT_MS = 250;

/**
 * Everyone without a key together. They share one caller's part of the requests under way and of the unread answers, so
 * that nobody takes the place of requests with a key.
 */
const LINK_HOLDERS: Caller = Object.freeze({
  id: 'link-holders',
  kind: 'link',
  permissions: [],
  keyId: 'link-holders',
  rateLimit: undefined,
});

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

/** Serves requests that need no key, because they follow a signed link, which a service checks. */
export const admitLinkHolder: OperationMiddleware = function admitLinkHolder({ state }, next) {
  state.caller = LINK_HOLDERS;
  return next();
};

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

function withCaller({ state }: OperationContext, caller: Caller, next: () => Promise<unknown>) {
  state.caller = caller;
  return next();
}
