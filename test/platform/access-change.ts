/**
 * For `eventually`: a withdrawn or disabled grant, and a revoked key, stop working within five seconds, the longest
 * ACCESS_CACHE_TIME that the gateway takes (its service.test.ts); the rest is for a busy machine, whose requests take long.
 */
export const ACCESS_CHANGES_WITHIN_MS = 15_000;
