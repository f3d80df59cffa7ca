/** The data about a request that middleware leaves in `ctx.state` for later middleware. */
import type { Identity } from '@creditlane/rpc/identity';
import type { Span } from '@creditlane/runtime/telemetry/tracing';
import type { RouterContext } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { CallOptions } from './access/call-options.ts';
import type { Caller } from './access/callers.ts';
import type { Operation } from './document/operation.ts';
import type { Parameters } from './document/parameters.ts';

/** The state of every request. */
export interface RequestState {
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly requestId: string;
  /** The trace that the work for the request belongs to: the caller's, or one that began here. */
  traceparent: string | undefined;
  /** Set for requests for an operation only, like `operation`, `callOptions` and `caller`. */
  span: Span | undefined;
  operation: Operation | undefined;
  callOptions: CallOptions | undefined;
  caller: Caller | undefined;
  /** The code of the error with which the request was answered. */
  errorCode: string | undefined;
  /** The error for the log, when the answer is 5xx. */
  failure: unknown;
}

/** The state of a request for an operation. The named middleware sets the field and runs before its readers. */
export interface OperationState extends RequestState {
  /** By `startOperation`. */
  operation: Operation;
  /** By `startOperation`. */
  callOptions: CallOptions;
  /** By `findCaller` or `admitLinkHolder`; `confirmCaller` and `confirmAccess` set it again. */
  caller: Caller;
  /** By `readParameters`. */
  parameters: Parameters;
  /** By `readBody`; undefined when the request has none, or the operation takes none. */
  body: unknown;
  /** By `authorise`: in whose name the services are called. `confirmAccess` sets it again. */
  identity: Identity;
}

export type RequestContext = ParameterizedContext<RequestState>;
export type RequestMiddleware = Middleware<RequestState>;
export type OperationContext = RouterContext<OperationState>;
export type OperationMiddleware = (
  ctx: OperationContext,
  next: () => Promise<unknown>,
) => Promise<unknown>;
