/** A cache of lookups of keys and grants, for a short time. */
import { LRUCache } from 'lru-cache';

export interface LookupCacheOptions<Question, Answer> {
  /** 0 caches nothing. */
  ttlMs: number;
  max: number;
  /** The id of the caller that an answer is about, for `forget`. */
  ownerOf: (question: Question, answer: Answer) => string | undefined;
  /** Answers with a cache of their own, of `max` answers: they evict no others, and do not make a key known. */
  apart?: { includes: (answer: Answer) => boolean; max: number };
  /** Monotonic, in milliseconds, so that setting the system's time back does not prolong a revoked grant. */
  clock?: { now(): number };
}

export interface CachedLookup<Question, Answer> {
  find(key: string, question: Question): Answer | Promise<Answer>;
  /** What was looked up about the owner before is looked up again. */
  forget(owner: string): void;
}

/** So many owners are known to be forgotten; of an earlier one, answers of before are given until they expire. */
const MAX_FORGOTTEN = 10_000;

/** An answer, or a call for one. */
interface Kept<T> {
  value: T;
  expiresAtMs: number;
  /** How often `forget` had been called when the call began. */
  forgets: number;
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
    return { find: (_key, question) => lookUp(question, false), forget: () => undefined };
  }
  // Entries stay after they expire, until they are evicted, and show that their key is known.
  const known = new LRUCache<string, Kept<Answer>>({ max });
  const keptApart = new LRUCache<string, Kept<Answer>>({ max: apart?.max ?? 1 });
  const calls = new Map<string, Kept<Promise<Answer>>>();
  /** By owner: the number of its latest `forget`. */
  const forgotten = new LRUCache<string, number>({ max: MAX_FORGOTTEN });
  let forgets = 0;

  return {
    find(key, question) {
      const nowMs = clock.now();
      const earlier = known.get(key);
      const found = earlier ?? keptApart.get(key);
      if (found && nowMs < found.expiresAtMs && !isForgotten(question, found)) return found.value;
      let call = calls.get(key);
      // Whose answer a call will have is not known before its end.
      if (call === undefined || nowMs >= call.expiresAtMs || call.forgets < forgets) {
        const value = lookUp(question, earlier !== undefined);
        call = { value, expiresAtMs: nowMs + ttlMs, forgets };
        calls.set(key, call);
        keep(key, call);
      }
      return call.value;
    },
    forget(owner) {
      forgets += 1;
      forgotten.set(owner, forgets);
    },
  };

  function isForgotten(question: Question, { value, forgets: before }: Kept<Answer>): boolean {
    const owner = forgets > 0 ? ownerOf(question, value) : undefined;
    return owner !== undefined && (forgotten.get(owner) ?? 0) > before;
  }

  function keep(key: string, call: Kept<Promise<Answer>>): void {
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
