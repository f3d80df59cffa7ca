/** When a delivery is tried again, and when it is dead: a pure rule on the outcome of one attempt. */
import { isSuccess, type Outcome } from '../egress/exchange.ts';

/** The next step of the delivery. */
export type Step =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly delayMs: number }
  | { readonly kind: 'dead'; readonly reason: string }
  /** The receiver answered 410: nothing more is sent to the destination, this delivery included. */
  | { readonly kind: 'disable'; readonly reason: string };

const JITTER = 0.2;
const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * The step after attempt number `attempt` (from 1) ended as `outcome`.
 *
 * `delaysMs[n - 1]` is the delay after attempt n; the attempt after the last delay is the last one.
 * Each delay is spread by ±20 % with `random` in [0, 1), so that deliveries that failed together are
 * not retried together. A Retry-After of up to 24 h makes a delay longer, never shorter.
 */
export function nextStep(
  attempt: number,
  outcome: Outcome,
  delaysMs: readonly number[],
  random: () => number,
): Step {
  if (isSuccess(outcome)) return { kind: 'delivered' };
  if (outcome.kind === 'answered' && outcome.status === 410) {
    return { kind: 'disable', reason: 'gone' };
  }
  const delayMs = delaysMs[attempt - 1];
  if (delayMs === undefined) return { kind: 'dead', reason: 'attempts_exhausted' };
  const spreadMs = Math.round(delayMs * (1 - JITTER + 2 * JITTER * random()));
  const askedMs = outcome.kind === 'answered' ? (outcome.retryAfterMs ?? 0) : 0;
  return { kind: 'retry', delayMs: Math.max(spreadMs, Math.min(askedMs, MAX_RETRY_AFTER_MS)) };
}
