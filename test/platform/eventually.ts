import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Calls `poll` until it returns anything but undefined, and returns that. Throws an error that names
 * `what` when `timeoutMs` has passed.
 */
export async function eventually<T>(
  what: string,
  poll: () => Promise<T | undefined>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const result = await poll();
    if (result !== undefined) return result;
    if (Date.now() > deadline) throw new Error(`no ${what} within ${timeoutMs} ms`);
    await delay(POLL_MS);
  }
}
