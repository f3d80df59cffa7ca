/** What the middleware finds out about a request, and leaves in `ctx.state` for the middleware after it. */
import type { CallContext } from '@creditlane/rpc/client';
import type { Identity } from '@creditlane/rpc/identity';
import type { Span } from '@creditlane/runtime/telemetry/tracing';
import type { RouterContext } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Caller } from './access/callers.ts';
import type { Operation } from './document/operation.ts';
import type { Parameters } from './document/validation.ts';

/** What a request passes on to every call that is made for it. */
export type CallLimits = Pick<CallContext, 'requestId' | 'traceparent' | 'deadlineMs' | 'signal'>;

/** Of every request. */
export interface RequestState {
  /** By the monotonic clock. */
  readonly startedMs: number;
  readonly requestId: string;
  /** The trace that the work for the request belongs to: the caller's, or one that began here. */
  traceparent: string | undefined;
  /** Of requests for an operation. */
  span: Span | undefined;
  operation: Operation | undefined;
  limits: CallLimits | undefined;
  caller: Caller | undefined;
  /** Of the error that the request was answered with. */
  errorCode: string | undefined;
  /** What failed, where the platform is at fault. */
  failure: unknown;
}

/** Of a request for an operation. The middleware named sets the field, and runs before those that read it. */
export interface OperationState extends RequestState {
  /** By `startOperation`. */
  operation: Operation;
  /** By `startOperation`. */
  limits: CallLimits;
  /** By `findCaller`. */
  caller: Caller;
  /** By `readParameters`. */
  parameters: Parameters;
  /** By `readBody`; undefined when the request has none, or the operation takes none. */
  body: unknown;
  /** By `authorise`: in whose name the services are called. */
  identity: Identity;
}

export type RequestContext = ParameterizedContext<RequestState>;
export type RequestMiddleware = Middleware<RequestState>;
export type OperationContext = RouterContext<OperationState>;
export type OperationMiddleware = (
  ctx: OperationContext,
  next: () => Promise<unknown>,
) => Promise<unknown>;
