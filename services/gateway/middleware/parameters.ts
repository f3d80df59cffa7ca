/** Checks the parameters of a request, and leaves them in `ctx.state.parameters`. */

import type { Validator } from '../document/validation.ts';
import type { OperationMiddleware } from '../request-state.ts';

/** Throws an `invalid` Fault that names every parameter at fault. */
export function readParameters(validator: Validator): OperationMiddleware {
  return function readParameters(ctx, next) {
    const { state } = ctx;
    state.parameters = validator.parameters({
      path: ctx.params,
      query: ctx.querystring === '' ? {} : ctx.query,
      header: ctx.req.headers,
    });
    // Not before they were found to be ids: anything else must not be kept in a trace.
    const { applicationId, creditorId } = state.parameters.path;
    state.span?.setAttributes({
      'creditlane.application.id': applicationId,
      'creditlane.creditor.id': creditorId,
    });
    return next();
  };
}
