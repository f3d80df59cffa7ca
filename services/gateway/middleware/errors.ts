/** Answers the requests that fail, and the requests that match no route. */
import { cancelled, invalid, notFound } from '@creditlane/rpc/fault';
import type { RouterContext } from '@koa/router';
import { clientFault, errorAnswer } from '../errors.ts';
import { JSON_TYPE, PROBLEM_TYPE } from '../http/media-types.ts';
import { answerAndDiscardBody, leavesConnectionUnusable } from '../http/unread-body.ts';
import type { RequestContext, RequestMiddleware, RequestState } from '../request-state.ts';

/** In the order in which `Allow` lists them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];

/** Answers with the error that the later middleware throws. */
export const answerErrors: RequestMiddleware = async function answerErrors(ctx, next) {
  try {
    await next();
  } catch (error) {
    answerError(ctx, error);
  }
};

/**
 * The last middleware. Throws for every request: `route_not_found`, or `method_not_allowed` if the path exists.
 *
 * @param publicPath as `publicPathOf` returns it
 */
export function refuseUnrouted(publicPath: string): RequestMiddleware {
  const unknown = `no operation has this path; all begin with ${publicPath}/v1, and ${publicPath}/docs lists them`;
  return async function refuseUnrouted(ctx) {
    const { matched = [] } = ctx as RouterContext<RequestState>;
    const served = new Set(matched.flatMap(({ methods }) => methods));
    if (served.size === 0) throw notFound('route_not_found', unknown);
    const allow = METHODS.filter((method) => served.has(method)).join(', ');
    ctx.set('Allow', allow);
    throw invalid('method_not_allowed', `this path takes ${allow}`);
  };
}

/**
 * Longer than any client's. The library that Koa negotiates with takes quadratic time for a quoted
 * parameter: 5 ms of CPU for 15 KB, for a request without a key.
 */
const MAX_ACCEPT_CHARACTERS = 512;

/** Whether the client prefers problem details to plain JSON. */
function prefersProblem(ctx: RequestContext): boolean {
  const accept = ctx.get('Accept');
  if (accept.length > MAX_ACCEPT_CHARACTERS) return false;
  return ctx.accepts(JSON_TYPE, PROBLEM_TYPE) === PROBLEM_TYPE;
}

function answerError(ctx: RequestContext, error: unknown): void {
  const { req, res, state } = ctx;
  // After the client hung up, its calls fail with different errors, which depend on the transport.
  const fault = state.callOptions?.signal?.aborted ? cancelled() : clientFault(error);
  const { status, headers, body, code } = errorAnswer(fault, {
    requestId: state.requestId,
    operation: state.operation,
    asProblem: prefersProblem(ctx),
  });
  state.errorCode = code;
  // Without a cause, a 503 is a refusal by the gateway itself, and its code says all that there is to know.
  if (status >= 500) state.failure = fault.cause ?? (status === 500 ? fault : undefined);
  ctx.set(headers);
  ctx.status = status;
  if (leavesConnectionUnusable(req)) {
    // Koa would end the answer at once, which would close the connection before the client has read it.
    ctx.respond = false;
    answerAndDiscardBody(req, res, status, body);
  } else {
    ctx.body = body;
  }
}
