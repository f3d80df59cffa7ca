/**
 * Waits for locks, by work that is not urgent. Statements of requests queue behind such a wait, so it is soon given up, which
 * lets them run, and tried again after a pause.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isLockTimeout } from './error-classes.ts';
import { defineStatement, type Query } from './statement.ts';

/** How long such a wait lasts. */
export const LOCK_WAIT_MS = 100;
/** How much longer each pause between two tries is than the one before, and the longest pause. */
const PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;

const limitLockWait = defineStatement(
  'lock_wait_limit',
  `SELECT set_config('lock_timeout', $1::text, true)`,
);

/** Limits how long each later statement of the transaction waits for a lock. */
export function limitLockWaitQuery(limitMs = LOCK_WAIT_MS): Query<unknown> {
  return limitLockWait.query([String(limitMs)]);
}

/**
 * Runs `work`, whose waits for locks are limited, until it gets its locks; rejects with the last `isLockTimeout` when it did not get
 * them `withinMs`. `onWait` is called before each pause.
 */
export async function whenUnlocked<T>(
  work: () => Promise<T>,
  { withinMs = Infinity, onWait }: { withinMs?: number; onWait?: () => void } = {},
): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const pauseMs = Math.min(MAX_PAUSE_MS, attempt * PAUSE_MS);
      if (!isLockTimeout(error) || performance.now() + pauseMs > untilMs) throw error;
      onWait?.();
      await delay(pauseMs);
    }
  }
}
