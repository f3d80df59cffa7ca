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
    // Set after the validation, because a trace may contain ids only, and no other text of the client.
    const { applicationId, creditorId } = state.parameters.path;
    state.span?.setAttributes({
      'creditlane.application.id': applicationId,
      'creditlane.creditor.id': creditorId,
    });
    return next();
  };
}
