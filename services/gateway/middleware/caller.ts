/** Finds the caller, which it leaves in `ctx.state.caller`, and checks its access by the rules of access.ts. */
import { type FaultKind, toFault } from '@creditlane/rpc/fault';
import type { Identity } from '@creditlane/rpc/identity';
import type { Access } from '../access/access.ts';
import type { Caller } from '../access/callers.ts';
import type { OperationContext, OperationMiddleware, OperationState } from '../request-state.ts';

/**
 * How long a request may go on with the caller that it has found. The lookup may be cached for 4.5 s, and a revoked key
 * is promised to stop within 5 s.
 */
export const RECHECK_ACCESS_AFTER_MS = 250;

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
export function findCaller({ callers }: Access): OperationMiddleware {
  return function findCaller(ctx, next) {
    const found = callers.find(ctx.req.headers.authorization, ctx.state.callOptions);
    if (!(found instanceof Promise)) return withCaller(ctx, found, next);
    return found.then((caller) => withCaller(ctx, caller, next));
  };
}

/**
 * Finds the caller again, and checks its access to the operation again, when the body took long to arrive, or the request
 * waited for its turn: a key that was revoked meanwhile must neither write nor read.
 */
export function confirmCaller(access: Access): OperationMiddleware {
  return function confirmCaller(ctx, next) {
    if (performance.now() - ctx.state.startedMs < RECHECK_ACCESS_AFTER_MS) return next();
    return findAgain(access, ctx).then(next);
  };
}

async function findAgain(access: Access, { state, req }: OperationContext) {
  state.caller = await access.callers.find(req.headers.authorization, state.callOptions);
  access.admit(state.caller, state.operation.access);
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
    state.identity = await identify(access, state);
    await next();
  };
}

function identify(access: Access, state: OperationState): Promise<Identity> {
  const { caller, operation, parameters, body, callOptions } = state;
  const target = operation.access.target(parameters, body);
  return access.identity(caller, operation.access, target, callOptions);
}

/** The kinds of faults by which a service refuses a request without an effect. */
const WITHOUT_EFFECT: ReadonlySet<FaultKind> = new Set([
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'conflict',
  'resource_exhausted',
]);

/**
 * For operations that change the access of an integration: its next request at this server is served by what it may do then.
 * At other servers, what they have looked up before expires.
 */
export function invalidateAccess(access: Access): OperationMiddleware {
  return async function invalidateAccess({ state }, next) {
    const invalidate = () => {
      const { changesAccessOf } = state.operation.access;
      const id =
        changesAccessOf === 'caller'
          ? state.caller.id
          : changesAccessOf?.(state.parameters, state.body);
      if (id !== undefined) access.invalidate(id);
    };
    try {
      await next();
    } catch (error) {
      // Any other error may have come after the change was made.
      if (!WITHOUT_EFFECT.has(toFault(error).kind)) invalidate();
      throw error;
    }
    invalidate();
  };
}

/**
 * For handlers that wait: access that was withdrawn meanwhile must not get the answer. Finds the caller and its access again,
 * and resolves to the identity. Throws as `findCaller`, `admitCaller` and `authorise` do.
 */
export async function confirmAccess(access: Access, ctx: OperationContext): Promise<Identity> {
  await findAgain(access, ctx);
  ctx.state.identity = await identify(access, ctx.state);
  return ctx.state.identity;
}

function withCaller({ state }: OperationContext, caller: Caller, next: () => Promise<unknown>) {
  state.caller = caller;
  return next();
}
