/** What a request hands on to every call made for it. */
import type { CallContext } from '@creditlane/rpc/client';

/** The request's id and trace, and the instant (milliseconds since the epoch) by which it is answered. */
export type CallLimits = Pick<CallContext, 'requestId' | 'traceparent' | 'deadlineMs'>;
