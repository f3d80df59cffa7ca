/** Reads and checks the body of a request, and leaves its value in `ctx.state.body`. */
import { finished } from 'node:stream';
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import type { Operation } from '../document/operation.ts';
import type { Validator } from '../document/validation.ts';
import { mayHaveBody, readJsonBody } from '../http/json-body.ts';
import { SharedLimit } from '../limits/shared-limit.ts';
import type { OperationMiddleware } from '../request-state.ts';
import { MIN_BYTES_COUNTED } from './answer.ts';

/** Bodies of a hundred times the usual size (2 KB), for a hundred and sixty requests at once. */
const MAX_BYTES_HELD = 32 * 1024 * 1024;

/**
 * Throws an `invalid` Fault that says why the body cannot be read, or names every field at fault. A body
 * sent to an operation that takes none is read within the same limits, and ignored.
 *
 * The body counts as held until the request is answered, because its value stays in memory as long. A large
 * body counts until the answer is sent, which may repeat the body. Throws an `overloaded` Fault when the
 * bodies of all callers take too much memory, and a `resource_exhausted` Fault when those of the caller do.
 */
export function readBody(
  { bodyLimits }: Operation,
  validator: Validator,
  bytesHeld: SharedLimit,
): OperationMiddleware {
  return async function readBody(ctx, next) {
    const { req, res, state } = ctx;
    if (!mayHaveBody(req)) {
      state.body = validator.body(undefined);
      await next();
      return;
    }
    const { id } = state.caller;
    let held = 0;
    const reserve = (bytes: number) => {
      bytesHeld.take(id, bytes);
      held += bytes;
    };
    const release = () => bytesHeld.release(id, held);
    try {
      state.body = validator.body(await readJsonBody(req, res, bodyLimits, reserve));
      await next();
    } catch (error) {
      release();
      throw error;
    }
    if (held < MIN_BYTES_COUNTED) release();
    else finished(res, release);
  };
}

/** The limit of the bytes of bodies in memory, of which each caller has a share. */
export function bodyBytesHeld(metrics: Metrics): SharedLimit {
  return new SharedLimit(metrics, {
    gauge: 'http_body_bytes_held',
    about: 'Bytes of the bodies of requests under way, as declared or as received.',
    max: MAX_BYTES_HELD,
    full: 'the bodies of the requests under way take all the memory that there is for them',
    shareCode: 'too_many_bytes_under_way',
    share: 'the bodies of your requests under way are too large together; please wait',
  });
}
