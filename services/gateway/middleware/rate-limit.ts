/** Refuses requests above the rate limit of their key, and tells every caller what is left. */
import type { RateLimiter, Verdict } from '../limits/rate-limiter.ts';
import type { OperationContext, OperationMiddleware } from '../request-state.ts';

/**
 * Throws a `resource_exhausted` Fault when the quota of the key is used up, and an `unavailable` Fault
 * when that cannot be found out.
 */
export function limitRate(limiter: RateLimiter): OperationMiddleware {
  return function limitRate(ctx, next) {
    const { caller, callOptions } = ctx.state;
    const verdict = limiter.take(caller, callOptions);
    if (!(verdict instanceof Promise)) return withVerdict(ctx, verdict, next);
    return verdict.then((it) => withVerdict(ctx, it, next));
  };
}

function withVerdict({ res }: OperationContext, verdict: Verdict, next: () => Promise<unknown>) {
  res.setHeader('RateLimit-Policy', verdict.policy);
  res.setHeader('RateLimit', verdict.left);
  verdict.requireAdmitted();
  return next();
}
