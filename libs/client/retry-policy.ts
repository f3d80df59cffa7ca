/** When the next attempt of a call begins. */

const FIRST_WAIT_MS = 200;
const MAX_BACKOFF_MS = 10_000;
/** Shares of the wait that are random, so that clients that failed together do not return together. */
const BACKOFF_JITTER = 0.5;
const RETRY_AFTER_JITTER = 0.2;

/**
 * The wait before the next attempt: what the answer asked for and up to 20 % more; without that, exponential
 * from 200 ms to 10 s, of which up to half is left out.
 *
 * @param attempt the number of the attempt that failed, from 1
 * @param random from 0 to 1
 */
export function retryWaitMs(
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  // `Retry-After: 0` permits an attempt at once; the backoff keeps a loop of such answers slow.
  if (retryAfterMs === undefined || retryAfterMs === 0)
    return backoffMs * (1 - BACKOFF_JITTER * random);
  return retryAfterMs * (1 + RETRY_AFTER_JITTER * random);
}
