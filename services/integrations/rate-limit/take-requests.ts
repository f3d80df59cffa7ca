/** Takes requests from the quota of a key for one replica of the gateway. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Database } from '@creditlane/postgres/database';
import { runReadWriteTransaction } from '@creditlane/postgres/transaction';
import type {
  TakeRequestsRequest,
  TakeRequestsResponseSchema,
} from '@creditlane/proto/integrations/v1/integrations_service';
import type { Call } from '@creditlane/rpc/call';
import { keepQuotaQuery, lockQuotaQueries } from '../store/rate-limits.ts';
import { BLOCK_VALID_MS, takeFromQuota } from './quota.ts';

/**
 * Takes the requests in one transaction under the lock of the key's row, at the time of the database: the
 * clocks of the gateway's replicas have no influence. A call that ended while it waited for the lock takes
 * nothing: no replica would have these requests. It rejects with the reason of its signal.
 */
export async function takeRequests(
  { pool, rowTurns }: Pick<Database, 'pool' | 'rowTurns'>,
  request: TakeRequestsRequest,
  call: Pick<Call, 'identity' | 'signal'>,
): Promise<MessageInitShape<typeof TakeRequestsResponseSchema>> {
  const { keyId, limit, windowMs } = request;
  const { signal } = call;
  const take = () =>
    runReadWriteTransaction(pool, lockQuotaQueries(keyId), ([, , [kept]]) => {
      if (kept === undefined || signal.aborted) return { writes: [], result: undefined };
      const rateLimit = { requests: limit, windowMs };
      const { quota, granted } = takeFromQuota(kept, kept.elapsedMs, rateLimit, request);
      const { wholeInMs } = quota;
      return {
        writes: [keepQuotaQuery(keyId, kept.now, quota)],
        result: { granted, wholeInMs, validMs: BLOCK_VALID_MS },
      };
    });
  const taken = await rowTurns.run(keyId, take, call);
  signal.throwIfAborted();
  // The purge deleted the row between the insert, which found it, and the lock.
  return taken ?? takeRequests({ pool, rowTurns }, request, call);
}
