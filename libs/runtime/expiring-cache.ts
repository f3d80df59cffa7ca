import { LRUCache } from 'lru-cache';

/**
 * A cache of `max` entries, of which each expires `ttlMs` after it was set; the one that was used longest ago makes way for
 * a new one. By default, lru-cache reads the time once a millisecond, with a timer that wakes the process after each lookup.
 */
export function createExpiringCache<Value extends {}>(
  max: number,
  ttlMs: number,
): LRUCache<string, Value> {
  // lru-cache treats a ttl of 0 as no limit.
  return new LRUCache({ max, ttl: Math.max(1, ttlMs), ttlResolution: 0 });
}
