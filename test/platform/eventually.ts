import { setTimeout as delay } from 'node:timers/promises';

/** Asks until the answer is there, and gives it; throws when it has not come within `timeoutMs`. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`no ${what} within ${timeoutMs} ms`);
    await delay(20);
  }
}
