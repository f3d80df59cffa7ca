/**
 * How long `eventually` waits for a changed grant or a revoked key to take effect: five seconds, the longest ACCESS_CACHE_TIME that
 * the gateway takes (its service.test.ts), and the rest for a busy machine, whose requests take long.
 */
export const ACCESS_CHANGES_WITHIN_MS = 15_000;
