/** Limits how many requests each caller may make: a token bucket per caller that refills continuously. */
import { resourceExhausted } from '@creditlane/rpc/fault';
import { LRUCache } from 'lru-cache';
import type { OperationMiddleware } from '../request-state.ts';

export interface RateLimitConfig {
  /** The size of a bucket, and the number of tokens that it regains in each window. */
  readonly requests: number;
  readonly windowMs: number;
}

/** More callers than are ever active at once; an evicted caller starts with a full bucket. */
const MAX_BUCKETS = 100_000;

/** Throws a `resource_exhausted` Fault when the caller's bucket is empty. */
export function limitRate(limiter: RateLimiter): OperationMiddleware {
  return function limitRate(ctx, next) {
    const token = limiter.take(ctx.state.caller.id);
    ctx.res.setHeader('RateLimit-Policy', limiter.policy);
    ctx.res.setHeader('RateLimit', token.header);
    token.refuse();
    return next();
  };
}

export class RateLimiter {
  /** The `RateLimit-Policy` header, the same for every caller. */
  readonly policy: string;
  readonly #requests: number;
  readonly #perMs: number;
  readonly #buckets = new LRUCache<string, { tokens: number; atMs: number }>({ max: MAX_BUCKETS });
  readonly #nowMs: () => number;

  constructor({ requests, windowMs }: RateLimitConfig, nowMs = () => performance.now()) {
    this.policy = `"default";q=${requests};w=${Math.ceil(windowMs / 1000)}`;
    this.#requests = requests;
    this.#perMs = requests / windowMs;
    this.#nowMs = nowMs;
  }

  /** Takes one token. `header` is the `RateLimit` header; `refuse` throws when the bucket was empty. */
  take(caller: string): { header: string; refuse(): void } {
    const nowMs = this.#nowMs();
    const bucket = this.#bucket(caller, nowMs);
    const missing = 1 - bucket.tokens;
    if (missing <= 0) bucket.tokens -= 1;
    const fullInS = Math.ceil((this.#requests - bucket.tokens) / this.#perMs / 1000);
    return {
      header: `"default";r=${Math.floor(bucket.tokens)};t=${fullInS}`,
      refuse: () => {
        if (missing <= 0) return;
        const waitS = Math.max(1, Math.ceil(missing / this.#perMs / 1000));
        throw resourceExhausted('rate_limited', 'too many requests; please wait', waitS);
      },
    };
  }

  #bucket(caller: string, nowMs: number): { tokens: number; atMs: number } {
    let bucket = this.#buckets.get(caller);
    if (bucket === undefined) {
      bucket = { tokens: this.#requests, atMs: nowMs };
      this.#buckets.set(caller, bucket);
    }
    bucket.tokens = Math.min(this.#requests, bucket.tokens + (nowMs - bucket.atMs) * this.#perMs);
    bucket.atMs = nowMs;
    return bucket;
  }
}
