/** Remembers answers for a short time, asking once for callers that come together. */
import { LRUCache } from 'lru-cache';

/** Answers by key, each good for `ttlMs` from the moment it was asked for. */
export class FreshCache<V> {
  readonly #answers: LRUCache<string, { answer: Promise<V>; untilMs: number }>;
  readonly #ttlMs: number;

  constructor({ ttlMs, max }: { ttlMs: number; max: number }) {
    this.#answers = new LRUCache({ max });
    this.#ttlMs = ttlMs;
  }

  /** The answer known for `key`, else what `ask` gives. A failure is not remembered. */
  get(key: string, ask: () => Promise<V>): Promise<V> {
    // The monotonic clock: a machine's time set back must not prolong a withdrawn grant.
    const nowMs = performance.now();
    const known = this.#answers.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.answer;
    const answer = ask();
    const entry = { answer, untilMs: nowMs + this.#ttlMs };
    this.#answers.set(key, entry);
    answer.catch(() => {
      if (this.#answers.peek(key) === entry) this.#answers.delete(key);
    });
    return answer;
  }
}
