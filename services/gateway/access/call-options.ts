/** The request id, trace, deadline and signal of the calls that are made for one request. */
import type { CallContext } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';

/** The part of the context that all calls made for one request have in common. */
export type CallOptions = Pick<CallContext, 'requestId' | 'traceparent' | 'deadlineMs' | 'signal'>;

/** The gateway, which calls in its own name. */
export const GATEWAY = serviceIdentity('gateway');

/** The context of a call in the gateway's own name, which ends when the client hangs up. */
export function ownCall({ requestId, traceparent, deadlineMs, signal }: CallOptions): CallContext {
  return { identity: GATEWAY, requestId, traceparent, deadlineMs, signal };
}

/** How long a shared lookup may take at least, even when the request that began it has less time left. */
const SHARED_CALL_MS = 5_000;

/**
 * The context of a lookup's call, in the gateway's own name. Other requests may wait for the call, so neither
 * the hang-up of the first client nor a first request that has little time left ends it.
 */
export function sharedCall({ deadlineMs, ...others }: CallOptions): CallContext {
  const leastMs = Date.now() + SHARED_CALL_MS;
  return ownCall({
    ...others,
    deadlineMs: deadlineMs && Math.max(deadlineMs, leastMs),
    signal: undefined,
  });
}
