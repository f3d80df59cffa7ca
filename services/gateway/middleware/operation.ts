/** The first and the last middleware of an operation: starts its span and deadline, and runs its handler. */
import { internal } from '@creditlane/rpc/fault';
import { newTraceparent } from '@creditlane/runtime/telemetry/traceparent';
import { startSpan } from '@creditlane/runtime/telemetry/tracing';
import type { Operation } from '../document/operation.ts';
import { encodeInPieces } from '../http/json-pieces.ts';
import { JSON_UTF8_TYPE } from '../http/media-types.ts';
import type { BoundHandler } from '../operations/handlers.ts';
import type { OperationContext, OperationMiddleware } from '../request-state.ts';
import type { LargeReads } from './large-reads.ts';

/**
 * Starts the operation's span and its deadline, `defaultTimeoutMs` from now unless the operation has its own.
 */
export function startOperation(
  operation: Operation,
  defaultTimeoutMs: number,
): OperationMiddleware {
  const method = operation.method.toUpperCase();
  const { route, timeoutMs = defaultTimeoutMs } = operation;
  return function startOperation(ctx, next) {
    const { state } = ctx;
    const { requestId } = state;
    state.operation = operation;
    state.span = startSpan(`${method} ${route}`, {
      kind: 'server',
      parent: state.traceparent,
      startsTrace: true,
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'creditlane.request.id': requestId,
      },
    });
    state.traceparent = state.span.traceparent ?? newTraceparent();
    state.callOptions = {
      requestId,
      traceparent: state.traceparent,
      deadlineMs: Date.now() + timeoutMs,
      signal: hangUpSignal(ctx),
    };
    return next();
  };
}

/** Sets the headers of a deprecated operation. Errors are answered with them, too. */
export function announceDeprecation(headers: Record<string, string>): OperationMiddleware {
  return function announceDeprecation(ctx, next) {
    ctx.set(headers);
    return next();
  };
}

/** Calls the handler and answers with what it returns, in the caller's turn where the operation says so. */
export function runOperation(
  operation: Operation,
  handler: BoundHandler,
  reads: LargeReads,
): OperationMiddleware {
  const [usualStatus = 200] = operation.successes.keys();
  return async function runOperation(ctx) {
    const { parameters, body, identity, callOptions } = ctx.state;
    const idempotencyKey = parameters.header['idempotency-key'];
    const onReplayed = () => ctx.set('Idempotent-Replayed', 'true');
    const context = { ...callOptions, identity, idempotencyKey, onReplayed };
    ctx.status = usualStatus;
    const answer = await handler({ ...parameters, body, context } as never, ctx);
    const { status } = ctx;
    if (!operation.successes.has(status)) {
      throw internal(new Error(`${operation.id} must not answer with ${status}`));
    }
    if (answer === undefined) return;
    if (Buffer.isBuffer(answer)) {
      ctx.type = operation.successes.get(status) ?? 'bin';
      ctx.body = answer;
    } else {
      ctx.res.setHeader('Content-Type', JSON_UTF8_TYPE);
      const encode = () => encodeInPieces(answer as object);
      if (!operation.answersList) ctx.body = JSON.stringify(answer);
      else if (operation.turn !== 'before_answer') ctx.body = await encode();
      else ctx.body = await reads.run(ctx.state.caller.id, encode);
    }
  };
}

/** Aborts when the connection closes before the answer was sent: the client has hung up. */
function hangUpSignal({ res }: OperationContext): AbortSignal {
  const controller = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller.signal;
}
