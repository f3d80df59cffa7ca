/** A cache of lookups of keys and grants, for a short time. */
import { LRUCache } from 'lru-cache';

export interface LookupCacheOptions<Question, Answer> {
  /** 0 caches nothing. */
  ttlMs: number;
  max: number;
  /** The id of the caller that an answer is about, for `invalidate`; undefined if it is about none, or only an answer can tell. */
  ownerOf: (question: Question, answer: Answer | undefined) => string | undefined;
  /** Answers with a cache of their own, of `max` answers: they evict no others, and do not make a key known. */
  apart?: { includes: (answer: Answer) => boolean; max: number };
  /** Monotonic, in milliseconds, so that setting the system's time back does not prolong a revoked grant. */
  clock?: { now(): number };
}

export interface CachedLookup<Question, Answer> {
  find(key: string, question: Question): Answer | Promise<Answer>;
  /** No later lookup gets an answer about the owner whose call began before. */
  invalidate(owner: string): void;
}

/** After so many invalidations of others, old answers about an owner are given again until they expire. */
const MAX_INVALIDATED = 10_000;

/** An answer, or a call for one. */
interface Entry<T> {
  value: T;
  expiresAtMs: number;
  /** The number of invalidations before the call began. */
  generation: number;
}

/**
 * `lookUp` with a cache. An answer expires `ttlMs` after its call began, concurrent lookups of a key share
 * one call, and failures are not cached. `lookUp` is told whether the key is known: it had an answer before.
 */
export function cachedLookup<Question, Answer extends object>(
  lookUp: (question: Question, isKnown: boolean) => Promise<Answer>,
  { ttlMs, max, ownerOf, apart, clock = performance }: LookupCacheOptions<Question, Answer>,
): CachedLookup<Question, Answer> {
  if (ttlMs === 0) {
    return { find: (_key, question) => lookUp(question, false), invalidate: () => undefined };
  }
  // Entries stay after they expire, until they are evicted, and show that their key is known.
  const known = new LRUCache<string, Entry<Answer>>({ max });
  const keptApart = new LRUCache<string, Entry<Answer>>({ max: apart?.max ?? 1 });
  const calls = new Map<string, Entry<Promise<Answer>>>();
  /** By owner: the number of its latest invalidation. */
  const invalidated = new LRUCache<string, number>({ max: MAX_INVALIDATED });
  let generation = 0;

  return {
    find(key, question) {
      const nowMs = clock.now();
      const earlier = known.get(key);
      const found = earlier ?? keptApart.get(key);
      const validSince = lastInvalidation(question, found);
      const isValid = (entry: Entry<unknown>) =>
        nowMs < entry.expiresAtMs && entry.generation >= validSince;
      if (found !== undefined && isValid(found)) return found.value;
      let call = calls.get(key);
      if (call === undefined || !isValid(call)) {
        const value = lookUp(question, earlier !== undefined);
        call = { value, expiresAtMs: nowMs + ttlMs, generation };
        calls.set(key, call);
        keep(key, call);
      }
      return call.value;
    },
    invalidate(owner) {
      generation += 1;
      invalidated.set(owner, generation);
    },
  };

  /** Of the owner of the answer; of anybody, if an answer may turn out to be about anybody. */
  function lastInvalidation(question: Question, found: Entry<Answer> | undefined): number {
    const owner = ownerOf(question, found?.value);
    if (owner !== undefined) return invalidated.get(owner) ?? 0;
    return found === undefined ? generation : 0;
  }

  function keep(key: string, call: Entry<Promise<Answer>>): void {
    const end = () => {
      if (calls.get(key) === call) calls.delete(key);
    };
    call.value.then((value) => {
      end();
      const isApart = apart?.includes(value) === true;
      (isApart ? known : keptApart).delete(key);
      (isApart ? keptApart : known).set(key, { ...call, value });
    }, end);
  }
}
