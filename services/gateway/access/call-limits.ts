/** The request id, trace, deadline and signal of the calls that are made for one request. */
import type { CallContext } from '@creditlane/rpc/client';
import { serviceIdentity } from '@creditlane/rpc/identity';

/** The part of the context that all calls made for one request have in common. */
export type CallLimits = Pick<CallContext, 'requestId' | 'traceparent' | 'deadlineMs' | 'signal'>;

/** The gateway, which calls in its own name. */
export const GATEWAY = serviceIdentity('gateway');

/** The context of a call in the gateway's own name, which ends when the client hangs up. */
export function ownCall({ requestId, traceparent, deadlineMs, signal }: CallLimits): CallContext {
  return { identity: GATEWAY, requestId, traceparent, deadlineMs, signal };
}

/**
 * The context of a lookup's call, in the gateway's own name and without a signal: other requests may wait
 * for the call, so the first client's hang-up must not cancel it.
 */
export function sharedCall(limits: CallLimits): CallContext {
  return ownCall({ ...limits, signal: undefined });
}
