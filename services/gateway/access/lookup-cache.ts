/** A cache of lookups of keys and grants, for a short time. */
import { LRUCache } from 'lru-cache';

export interface LookupCacheOptions {
  /** 0 caches nothing. */
  ttlMs: number;
  max: number;
  /** Monotonic, in milliseconds, so that setting the system's time back does not prolong a revoked grant. */
  clock?: { now(): number };
}

/**
 * `lookUp` with a cache. An answer expires `ttlMs` after its call began, concurrent lookups of a key share
 * one call, and failures are not cached.
 */
export function cachedLookup<Question, Answer extends object>(
  lookUp: (question: Question) => Promise<Answer>,
  { ttlMs, max, clock = performance }: LookupCacheOptions,
): (key: string, question: Question) => Answer | Promise<Answer> {
  // The cache treats a ttl of 0 as no limit.
  if (ttlMs === 0) return (_key, question) => lookUp(question);
  const cache = new LRUCache<string, Answer, { question: Question }>({
    max,
    ttl: ttlMs,
    perf: clock,
    ttlResolution: 0,
    // An answer expires by the time at which its call began.
    noUpdateTTL: true,
    // The eviction of an entry while its call is under way must not fail the requests that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context }) => lookUp(context.question),
  });
  // `get` removes an expired entry; `fetch` alone would refresh it, but keep the time of its earlier call.
  return (key, question) =>
    cache.get(key) ?? (cache.fetch(key, { context: { question } }) as Promise<Answer>);
}
