/** When a failed call is sent again, and how many retries a client may make. */
import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { FaultInfoSchema } from '@creditlane/proto/common/v1/fault';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { REPLAYED } from '../call.ts';
import { cancelled, toConnectError, toFault, unavailable } from '../fault.ts';
import { STREAM_REFUSED } from '../grpc/status.ts';
import type { UnaryCall } from '../transport.ts';
import { addRetryToken } from './retry-token.ts';

const MAX_ATTEMPTS = 4;
/**
 * For calls that the peer refused before it processed them. The limit is higher, because each attempt
 * may use another connection of the same peer, and several connections can end at the same time.
 */
const MAX_ATTEMPTS_UNPROCESSED = 10;
const BACKOFF = { baseMs: 25, capMs: 1_000 };

/** Enough for all calls that one replica processes at the moment when it dies. */
const BUDGET_MAX = 500;
const ANSWERS_PER_RETRY = 10;

/**
 * Bounds the load that retries add to a service in trouble: a burst of `BUDGET_MAX` retries at first,
 * then one retry for every ten answers.
 */
export class RetryBudget {
  #left = BUDGET_MAX;

  /** Takes one retry from the budget. Returns false, and takes nothing, when the budget is empty. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  /** Adds the share of a retry that one answer earns. */
  recordAnswer(): void {
    this.#left = Math.min(BUDGET_MAX, this.#left + 1 / ANSWERS_PER_RETRY);
  }
}

/** Called for each failed call that can be retried, with what happened to it. */
export type RetryObserver = (outcome: (typeof RETRY_OUTCOMES)[number]) => void;

export const RETRY_OUTCOMES = ['sent_again', 'out_of_budget'] as const;

/**
 * The same calls with retries, within the time limit of each call:
 *
 * - A call that the peer refused before it processed it is always retried. A peer that closes a
 *   connection refuses calls like that.
 * - A call whose connection broke may have been processed. It is retried only if processing it twice
 *   does no harm: its proto declares the method idempotent, or the call carries a retry token.
 *
 * The caller's idempotency key is a retry token. A call without one gets a retry token here.
 *
 * An error that the service itself answered is never retried. Services call each other, so every
 * service on the path would multiply the attempts of the one before it.
 */
export function retrying(
  unary: UnaryCall,
  {
    random,
    observe = () => {},
  }: { random?: () => number; observe?: RetryObserver | undefined } = {},
): UnaryCall {
  const budget = new RetryBudget();

  return async (method, signal, timeoutMs, callerHeader, input) => {
    const { header, isRepeatable, hasGeneratedKey } = addRetryToken(method, callerHeader);
    const endMs = performance.now() + timeoutMs;
    let remainingMs = timeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await unary(method, signal, remainingMs, header, input);
        budget.recordAnswer();
        // The caller sent no key, so the answer of an earlier attempt must not be marked as a stored answer.
        if (hasGeneratedKey) answer.header.delete(REPLAYED);
        return answer;
      } catch (error) {
        if (hasGeneratedKey && isDuplicateRequest(error)) throw recordBusy();
        const isRetryable = attempt < attemptsAllowed(error, isRepeatable);
        const waitMs = backoffMs(attempt, BACKOFF, random);
        if (!isRetryable || performance.now() + waitMs >= endMs) throw error;
        if (!budget.take()) {
          observe('out_of_budget');
          throw error;
        }
        observe('sent_again');
        await waitUnlessCancelled(waitMs, signal);
        remainingMs = Math.max(1, endMs - performance.now());
      }
    }
  };
}

function attemptsAllowed(error: unknown, isRepeatable: boolean): number {
  if (!(error instanceof ConnectError) || !isMadeByTransport(error)) return 1;
  if (error.rawMessage === STREAM_REFUSED) return MAX_ATTEMPTS_UNPROCESSED;
  return isRepeatable ? MAX_ATTEMPTS : 1;
}

/** Whether the connection failed. An error that the service answered has a FaultInfo. */
function isMadeByTransport(error: ConnectError): boolean {
  return error.code === Code.Unavailable && error.findDetails(FaultInfoSchema).length === 0;
}

function isDuplicateRequest(error: unknown): boolean {
  return toFault(error).code === 'idempotency_in_progress';
}

/**
 * The duplicate request is this call's own first attempt, under a key that its caller did not send. So
 * its caller gets the error of a call without a key whose record is locked.
 */
function recordBusy(): ConnectError {
  return toConnectError(unavailable('the record is busy'));
}

async function waitUnlessCancelled(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await delay(waitMs, undefined, { signal });
  } catch {
    throw cancelled();
  }
}
