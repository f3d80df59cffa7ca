import { WakeSignal } from './wake-signal.ts';

/** Resolves after `timeoutMs`, or when `abort` aborts. Never rejects. */
export function pause(timeoutMs: number, abort: AbortSignal): Promise<void> {
  return new WakeSignal().wait(timeoutMs, abort);
}
