/** For tests: the quotas of the integrations service, for one replica of the gateway, by a token bucket. */
import type {
  TakeRequestsRequest,
  TakeRequestsResponse,
} from '@creditlane/proto/integrations/v1/integrations_service';

/** Takes at the time of `nowMs`. A key's first call finds a whole quota. */
export function createTestQuotas(nowMs = () => performance.now()) {
  const buckets = new Map<string, { left: number; atMs: number }>();
  type Request = Pick<TakeRequestsRequest, 'keyId' | 'limit' | 'windowMs' | 'waiting' | 'ahead'> & {
    returned: number;
  };
  return ({
    keyId,
    limit,
    windowMs,
    waiting,
    ahead,
    returned,
  }: Request): Pick<TakeRequestsResponse, 'granted' | 'wholeInMs' | 'validMs'> => {
    const bucket = buckets.get(keyId) ?? { left: limit, atMs: nowMs() };
    const regained = ((nowMs() - bucket.atMs) * limit) / windowMs;
    const left = Math.min(limit, bucket.left + regained + returned);
    const granted = Math.min(Math.floor(left + 1e-6), waiting + ahead);
    buckets.set(keyId, { left: left - granted, atMs: nowMs() });
    const wholeInMs = ((limit - left + granted) * windowMs) / limit;
    return { granted, wholeInMs, validMs: 50_000 };
  };
}
