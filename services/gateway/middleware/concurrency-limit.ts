/** Limits the number of requests for which services are called at the same time. */
import type { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { SharedLimit } from '../limits/shared-limit.ts';
import type { OperationMiddleware } from '../request-state.ts';

export const OVERLOADED_MESSAGE = 'more requests are under way than are taken on at once';

/**
 * Throws an `overloaded` Fault when too many requests are under way: the request would end too late for its
 * client, and would delay the others. Throws a `resource_exhausted` Fault when the caller has its share of
 * them.
 */
export function limitConcurrency(underWay: SharedLimit): OperationMiddleware {
  return async function limitConcurrency({ state }, next) {
    const { id } = state.caller;
    underWay.take(id, 1);
    try {
      await next();
    } finally {
      underWay.release(id, 1);
    }
  };
}

/** The limit of requests under way, of which each caller has a share. */
export function requestsUnderWay(max: number, metrics: Metrics): SharedLimit {
  return new SharedLimit(metrics, {
    gauge: 'http_requests_under_way',
    about: 'Requests for which other services are at work.',
    max,
    full: OVERLOADED_MESSAGE,
    shareCode: 'too_many_under_way',
    share: 'too many of your requests are under way at once; please wait',
  });
}
