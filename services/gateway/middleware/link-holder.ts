/** Serves requests that need no key, because they follow a signed link, which a service checks. */
import type { Caller } from '../access/callers.ts';
import type { OperationMiddleware } from '../request-state.ts';

/**
 * Everyone without a key together. They share one caller's part of the requests under way and of the unread answers, so
 * that nobody takes the place of requests with a key.
 */
const LINK_HOLDERS: Caller = Object.freeze({
  id: 'link-holders',
  kind: 'link',
  permissions: [],
  keyId: 'link-holders',
  rateLimit: undefined,
});

/** Sets `ctx.state.caller`. */
export const admitLinkHolder: OperationMiddleware = function admitLinkHolder({ state }, next) {
  state.caller = LINK_HOLDERS;
  return next();
};
