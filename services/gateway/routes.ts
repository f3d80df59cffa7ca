/** Routes the requests for operations: one route of @koa/router for each operation of the OpenAPI document. */
import { invalid } from '@creditlane/rpc/fault';
import Router from '@koa/router';
import type { Operation } from './operation.ts';
import type { OperationMiddleware, OperationState } from './request-state.ts';

/** Paths are taken literally: no other case, no trailing slash, and one route for each request. */
export const STRICT_ROUTES = { strict: true, sensitive: true, exclusive: true };

/**
 * A router that runs, for a request of an operation, the middleware that `middlewareFor` makes for it.
 * HEAD is served wherever GET is. Throws an Error when two operations have the same method and path.
 */
export function routeOperations(
  operations: readonly Operation[],
  middlewareFor: (operation: Operation) => OperationMiddleware[],
): Router<OperationState> {
  const router = new Router<OperationState>(STRICT_ROUTES);
  const taken = new Set<string>();
  for (const operation of operations.toSorted(bySpecificity)) {
    const key = `${operation.method} ${operation.route.replaceAll(/\{.+?\}/g, '{}')}`;
    if (taken.has(key)) throw new Error(`${key} is declared twice`);
    taken.add(key);
    const path = operation.route.replaceAll(/\{(.+?)\}/g, ':$1');
    router[operation.method](path, ...middlewareFor(operation));
  }
  return router;
}

/** `exclusive` takes the last route that matches, so "{id}" goes before what is written out in its place. */
function bySpecificity(a: Operation, b: Operation): number {
  return a.route === b.route ? 0 : a.route > b.route ? -1 : 1;
}

/** Throws an `invalid` Fault for broken percent-encoding, which @koa/router passes on as it came. */
export function requireDecodablePath({ path }: { readonly path: string }): void {
  if (!path.includes('%')) return;
  try {
    decodeURIComponent(path);
  } catch {
    throw invalid('invalid_request', 'the path has broken percent-encoding');
  }
}
