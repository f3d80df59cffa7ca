/** The bounds of a backoff: the ceiling of the first wait, and the ceiling no wait exceeds. */
export interface BackoffBounds {
  baseMs: number;
  capMs: number;
}

/**
 * How long to wait before trying again, with full jitter.
 *
 * `attempt` counts from 1. The ceiling doubles with each attempt (base, 2·base, 4·base, …, cap) and
 * the wait is drawn evenly from [0, ceiling), so that callers that failed together do not return
 * together. `random` gives a number in [0, 1).
 */
export function backoffMs(
  attempt: number,
  { baseMs, capMs }: BackoffBounds,
  random: () => number = Math.random,
): number {
  const ceilingMs = Math.min(capMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return Math.floor(random() * ceilingMs);
}
