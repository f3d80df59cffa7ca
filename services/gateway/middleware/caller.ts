/** Finds the caller by the Authorization header, and leaves it in `ctx.state.caller`. */
import type { Callers } from '../access/callers.ts';
import type { OperationMiddleware } from '../request-state.ts';
import type { ConcurrencyLimiter } from './concurrency-limit.ts';

/** Throws an `unauthenticated` Fault when the key is missing, unknown or revoked. */
export function findCaller(callers: Callers, limiter: ConcurrencyLimiter): OperationMiddleware {
  return async function findCaller(ctx, next) {
    const { limits } = ctx.state;
    ctx.state.caller = await limiter.run(() => callers.find(ctx.req.headers.authorization, limits));
    await next();
  };
}
