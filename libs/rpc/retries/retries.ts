/** When a call is sent again because its peer went away under it, and how often. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Code, ConnectError, type Transport } from '@connectrpc/connect';
import { FaultInfoSchema } from '@creditlane/proto/common/v1/fault';
import { backoffMs } from '@creditlane/runtime/concurrency/backoff';
import { REPLAYED } from '../call.ts';
import { cancelled, toConnectError, toFault, unavailable } from '../fault.ts';
import { STREAM_REFUSED } from '../grpc/status.ts';
import { type UnaryCall, unaryTransport } from '../unary-transport.ts';
import { addRetryToken } from './retry-token.ts';

const MAX_ATTEMPTS = 4;
/** More, as each finds another connection of the same peers: on a busy machine several end at once. */
const MAX_ATTEMPTS_UNSEEN = 10;
const BACKOFF = { baseMs: 25, capMs: 1_000 };

/** Enough for all that one replica has under way when it dies. */
const BUDGET_MAX = 500;
const ANSWERS_PER_RETRY = 10;

/**
 * Bounds what retries add to the load of a service in trouble: a burst at first, then one retry for
 * every ten answers.
 */
export class RetryBudget {
  #left = BUDGET_MAX;

  /** Whether one more retry may be made; it is then counted as made. */
  take(): boolean {
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }

  answered(): void {
    this.#left = Math.min(BUDGET_MAX, this.#left + 1 / ANSWERS_PER_RETRY);
  }
}

/** Is told of each call that may be made again: whether it is, or not, as too many were already. */
export type RetryObserver = (outcome: (typeof RETRY_OUTCOMES)[number]) => void;

export const RETRY_OUTCOMES = ['sent_again', 'out_of_budget'] as const;

/**
 * The same transport, with calls sent again within their time when no answer of the service came:
 *
 * - a call the peer refused unseen, as it does while it closes a connection, always;
 * - a call that may have arrived only if a second arrival does no harm: its proto says so, or it
 *   carries a name by which its method knows it again. Nobody knows whether a connection that broke
 *   had delivered its calls.
 *
 * That name is the caller's idempotency key. A call without one is given a name here, of which its
 * caller never hears.
 *
 * What the service itself answers is never asked for twice: services call each other, and each
 * would multiply the attempts of the one before it.
 */
export function retrying(
  transport: Transport,
  random?: () => number,
  observe: RetryObserver = () => {},
): Transport {
  const budget = new RetryBudget();

  const unary: UnaryCall = async (method, signal, timeoutMs, given, input, values) => {
    const { header, isRepeatable, hasDrawnKey } = addRetryToken(method, given);
    const endMs = performance.now() + (timeoutMs ?? Infinity);
    let remainingMs = timeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = await transport.unary(method, signal, remainingMs, header, input, values);
        budget.answered();
        if (hasDrawnKey) answer.header.delete(REPLAYED);
        return answer;
      } catch (error) {
        if (hasDrawnKey && isTwinUnderWay(error)) throw beaten();
        const again = attempt < attemptsAllowed(error, isRepeatable);
        const waitMs = backoffMs(attempt, BACKOFF, random);
        if (!again || performance.now() + waitMs >= endMs) throw error;
        if (!budget.take()) {
          observe('out_of_budget');
          throw error;
        }
        observe('sent_again');
        await pause(waitMs, signal);
        if (timeoutMs !== undefined) remainingMs = Math.max(1, endMs - performance.now());
      }
    }
  };
  return unaryTransport(unary);
}

function attemptsAllowed(error: unknown, isRepeatable: boolean): number {
  if (!(error instanceof ConnectError) || !isTheTransports(error)) return 1;
  if (error.rawMessage === STREAM_REFUSED) return MAX_ATTEMPTS_UNSEEN;
  return isRepeatable ? MAX_ATTEMPTS : 1;
}

/** Made on the way, not by the service, which gives every refusal a FaultInfo. */
function isTheTransports(error: ConnectError): boolean {
  // Aborted is connect-node's code for a connection that broke under a call.
  const away = error.code === Code.Unavailable || error.code === Code.Aborted;
  return away && error.findDetails(FaultInfoSchema).length === 0;
}

function isTwinUnderWay(error: unknown): boolean {
  return toFault(error).code === 'idempotency_in_progress';
}

/** Its twin is its own first attempt: what a caller without a key is told of a record that is busy. */
function beaten(): ConnectError {
  return toConnectError(unavailable('the record is busy'));
}

async function pause(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(waitMs, undefined, { signal });
  } catch {
    throw cancelled();
  }
}
