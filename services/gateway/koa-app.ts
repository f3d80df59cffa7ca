/** The Koa application: the middleware of every request, in order. */
import type { Log } from '@creditlane/runtime/telemetry/log';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import Koa from 'koa';
import type { Access } from './access/access.ts';
import type { OpenApiDocument } from './document/openapi-document.ts';
import type { Operation } from './document/operation.ts';
import type { Validator } from './document/validation.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { answerBytesHeld, holdAnswer } from './middleware/answer.ts';
import { bodyBytesHeld, readBody } from './middleware/body.ts';
import {
  admitCaller,
  admitLinkHolder,
  authorise,
  confirmCaller,
  findCaller,
  invalidateAccess,
} from './middleware/caller.ts';
import { compressAnswers } from './middleware/compression.ts';
import { limitConcurrency, requestsUnderWay } from './middleware/concurrency-limit.ts';
import { documentation } from './middleware/documentation.ts';
import { answerErrors, refuseUnrouted } from './middleware/errors.ts';
import { refuseAmbiguous } from './middleware/framing.ts';
import { LargeReads, readInTurn } from './middleware/large-reads.ts';
import { announceDeprecation, runOperation, startOperation } from './middleware/operation.ts';
import { readParameters } from './middleware/parameters.ts';
import { limitRate } from './middleware/rate-limit.ts';
import type { Refusals } from './middleware/refusals.ts';
import { traceRequest } from './middleware/trace.ts';
import { type BoundHandler, bindHandlers } from './operations/handlers.ts';
import type { OperationMiddleware, RequestState } from './request-state.ts';
import { routeOperations } from './routes.ts';

export interface KoaAppDeps {
  document: OpenApiDocument;
  operations: readonly Operation[];
  /** By operation id, like the handlers. */
  validators: ReadonlyMap<string, Validator>;
  handlers: Record<string, BoundHandler>;
  access: Access;
  rateLimiter: RateLimiter;
  /** As `publicPathOf` returns it. */
  publicPath: string;
  /** How many requests may be under way at the same time. */
  maxUnderWay: number;
  /** How long a request may take, unless its operation says otherwise. */
  timeoutMs: number;
  log: Log;
  metrics: Metrics;
  refusals: Refusals;
}

/** Throws an Error when an operation of the document cannot be served as described. */
export function createKoaApp(deps: KoaAppDeps): Koa<RequestState> {
  const { document, operations, publicPath, log, metrics, refusals } = deps;
  const shared = sharedParts(deps);

  const app = new Koa<RequestState>();
  app.use(traceRequest(log, metrics, refusals, operations));
  app.use(compressAnswers());
  app.use(answerErrors);
  app.use(refuseAmbiguous);
  app.use(routeOperations(operations, (operation) => middlewareOf(operation, deps, shared)));
  app.use(documentation(document, operations, publicPath).routes());
  app.use(refuseUnrouted(publicPath));
  // Errors of a connection, after its request was answered.
  app.on('error', (error) => log.debug({ err: error }, 'connection failed'));
  return app;
}

/** What the operations share: the handlers, by operation id, and the limits of all requests together. */
function sharedParts({ operations, handlers, maxUnderWay, metrics }: KoaAppDeps) {
  return {
    handlers: bindHandlers(operations, handlers),
    underWay: requestsUnderWay(maxUnderWay, metrics),
    bodyBytes: bodyBytesHeld(metrics),
    answerBytes: answerBytesHeld(metrics),
    largeReads: new LargeReads(),
  };
}

/** The middleware of an operation, in order. Each one reads what the earlier ones left in `ctx.state`. */
function middlewareOf(
  operation: Operation,
  { validators, access, rateLimiter, timeoutMs }: KoaAppDeps,
  { handlers, underWay, bodyBytes, answerBytes, largeReads }: ReturnType<typeof sharedParts>,
): OperationMiddleware[] {
  const validator = required(validators, operation);
  const { deprecation, turn } = operation;
  const { caller, changesAccessOf } = operation.access;
  const takesKey = caller !== 'link';
  return [
    startOperation(operation, timeoutMs),
    ...(deprecation === undefined ? [] : [announceDeprecation(deprecation)]),
    ...(takesKey
      ? [findCaller(access), limitRate(rateLimiter), admitCaller(access)]
      : [admitLinkHolder]),
    readParameters(validator),
    readBody(operation, validator, bodyBytes),
    // After the body is read, so that a client that sends slowly does not use up the limit.
    limitConcurrency(underWay),
    ...(turn === 'before_call' ? [readInTurn(largeReads)] : []),
    ...(takesKey ? [confirmCaller(access)] : []),
    authorise(access),
    ...(changesAccessOf === undefined ? [] : [invalidateAccess(access)]),
    holdAnswer(answerBytes),
    runOperation(operation, required(handlers, operation), largeReads),
  ];
}

/** Throws for no operation: validators and handlers were made from the same list. */
function required<T>(found: ReadonlyMap<string, T>, { id }: Operation): T {
  const part = found.get(id);
  if (part === undefined) throw new Error(`operation ${id} is incomplete`);
  return part;
}
