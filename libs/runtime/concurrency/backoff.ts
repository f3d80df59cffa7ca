/** The ceiling of the first wait, and the ceiling of all waits. */
export interface BackoffBounds {
  baseMs: number;
  capMs: number;
}

/**
 * How long to wait before the next attempt: exponential backoff with full jitter.
 *
 * `attempt` counts from 1. The ceiling doubles with each attempt (base, 2·base, 4·base, …, cap) and
 * the wait is uniformly distributed in [0, ceiling), so that callers which failed together do not
 * retry together. `random` returns a number in [0, 1).
 */
export function backoffMs(
  attempt: number,
  { baseMs, capMs }: BackoffBounds,
  random: () => number = Math.random,
): number {
  const ceilingMs = Math.min(capMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return Math.floor(random() * ceilingMs);
}
