/** Reads and checks the body of a request, and leaves its value in `ctx.state.body`. */

import type { Operation } from '../document/operation.ts';
import type { Validator } from '../document/validation.ts';
import { hasBody, readJsonBody } from '../http/json-body.ts';
import type { OperationMiddleware } from '../request-state.ts';

/**
 * Throws an `invalid` Fault that says why the body cannot be read, or names every field at fault. A body
 * sent to an operation that takes none is read within the same limits, and ignored.
 */
export function readBody({ bodyLimits }: Operation, validator: Validator): OperationMiddleware {
  return async function readBody(ctx, next) {
    const { req, res, state } = ctx;
    const body = hasBody(req) ? await readJsonBody(req, res, bodyLimits) : undefined;
    state.body = validator.body(body);
    await next();
  };
}
