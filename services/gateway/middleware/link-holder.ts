/** Serves requests that need no key, because they follow a signed link, which a service checks. */
import { resourceExhausted } from '@creditlane/rpc/fault';
import type { Caller } from '../access/callers.ts';
import type { OperationMiddleware } from '../request-state.ts';

/**
 * Everyone without a key together. They share one caller's part of the requests under way, of the large reads at
 * a time and of the unread answers, so that nobody takes the place of requests with a key.
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

/** Of the four that all link holders have served at a time, so that two are left for the links to other records. */
const OPENINGS_AT_ONCE = 2;

/**
 * Throws a `resource_exhausted` Fault when a record is being opened too often at once: otherwise whoever repeats one
 * link takes the turns of all link holders.
 */
export function limitOpenings(): OperationMiddleware {
  const underWay = new Map<string, number>();
  return async function limitOpenings({ state }, next) {
    const record = Object.values(state.parameters.path).join('/').toLowerCase();
    const others = underWay.get(record) ?? 0;
    if (others >= OPENINGS_AT_ONCE) {
      const message = 'this link is being opened too often at once; please wait';
      throw resourceExhausted('too_many_under_way', message, 1);
    }
    underWay.set(record, others + 1);
    try {
      await next();
    } finally {
      const left = (underWay.get(record) ?? 1) - 1;
      if (left === 0) underWay.delete(record);
      else underWay.set(record, left);
    }
  };
}
