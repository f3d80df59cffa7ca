/** Remembers for a short time what the services say of keys and grants. */
import type { CallContext } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';
import { LRUCache } from 'lru-cache';
import type { CallLimits } from '../request-state.ts';

const GATEWAY = serviceIdentity('gateway');

export interface LookupCacheOptions {
  /** 0 remembers nothing. */
  ttlMs: number;
  max: number;
  /** By milliseconds of a monotonic clock: a machine's time set back must not prolong a withdrawn grant. */
  clock?: { now(): number };
}

/**
 * A cached `lookUp`: answers are good for `ttlMs` from the moment of the question, requests that come
 * together share one call, and failures are not remembered.
 */
export function cachedLookup<Question, Answer extends object>(
  lookUp: (question: Question) => Promise<Answer>,
  { ttlMs, max, clock = performance }: LookupCacheOptions,
): (key: string, question: Question) => Answer | Promise<Answer> {
  // For the cache, a time to live of 0 is one without end.
  if (ttlMs === 0) return (_key, question) => lookUp(question);
  const cache = new LRUCache<string, Answer, { question: Question }>({
    max,
    ttl: ttlMs,
    perf: clock,
    ttlResolution: 0,
    // The answer keeps the time of the question, which was set when the call began.
    noUpdateTTL: true,
    // An entry that is displaced while its call is under way must not fail the requests that wait for it.
    ignoreFetchAbort: true,
    fetchMethod: (_key, _stale, { context }) => lookUp(context.question),
  });
  // `get` removes an entry that is too old; `fetch` alone would keep its time.
  return (key, question) =>
    cache.get(key) ?? (cache.fetch(key, { context: { question } }) as Promise<Answer>);
}

/** How the gateway itself calls for a lookup. Other requests may wait for it, so no hang-up cancels it. */
export function sharedCall({ requestId, traceparent, deadlineMs }: CallLimits): CallContext {
  return { identity: GATEWAY, requestId, traceparent, deadlineMs };
}
