/** A cache of lookups of keys and grants, for a short time. */
import { LRUCache } from 'lru-cache';

export interface LookupCacheOptions<Answer> {
  /** 0 caches nothing. */
  ttlMs: number;
  max: number;
  /** Answers with a cache of their own, of `max` answers: they evict no others, and do not make a key known. */
  apart?: { includes: (answer: Answer) => boolean; max: number };
  /** Monotonic, in milliseconds, so that setting the system's time back does not prolong a revoked grant. */
  clock?: { now(): number };
}

interface Expiring<T> {
  value: T;
  expiresAtMs: number;
}

/**
 * `lookUp` with a cache. An answer expires `ttlMs` after its call began, concurrent lookups of a key share
 * one call, and failures are not cached. `lookUp` is told whether the key is known: it had an answer before.
 */
export function cachedLookup<Question, Answer extends object>(
  lookUp: (question: Question, isKnown: boolean) => Promise<Answer>,
  { ttlMs, max, apart, clock = performance }: LookupCacheOptions<Answer>,
): (key: string, question: Question) => Answer | Promise<Answer> {
  if (ttlMs === 0) return (_key, question) => lookUp(question, false);
  // Entries stay after they expire, until they are evicted, and show that their key is known.
  const known = new LRUCache<string, Expiring<Answer>>({ max });
  const keptApart = new LRUCache<string, Expiring<Answer>>({ max: apart?.max ?? 1 });
  const calls = new Map<string, Expiring<Promise<Answer>>>();

  return (key, question) => {
    const nowMs = clock.now();
    const earlier = known.get(key);
    const found = earlier ?? keptApart.get(key);
    if (found !== undefined && nowMs < found.expiresAtMs) return found.value;
    let call = calls.get(key);
    if (call === undefined || nowMs >= call.expiresAtMs) {
      const value = lookUp(question, earlier !== undefined);
      call = { value, expiresAtMs: nowMs + ttlMs };
      calls.set(key, call);
      keep(key, call);
    }
    return call.value;
  };

  function keep(key: string, call: Expiring<Promise<Answer>>): void {
    const { value: answer, expiresAtMs } = call;
    const end = () => {
      if (calls.get(key) === call) calls.delete(key);
    };
    answer.then((value) => {
      end();
      const isApart = apart?.includes(value) === true;
      (isApart ? known : keptApart).delete(key);
      (isApart ? keptApart : known).set(key, { value, expiresAtMs });
    }, end);
  }
}
