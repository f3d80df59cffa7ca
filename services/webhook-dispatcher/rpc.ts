/** The dispatcher's answers to the platform's operators. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { onDatabase } from '@creditlane/postgres/database-fault';
import { DeliveryState, WebhooksService } from '@creditlane/proto/webhooks/v1/webhooks_service';
import { invalid } from '@creditlane/rpc/fault';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import type { Pool } from 'pg';
import { type DeliveryStateName, type ListedDelivery, listDeliveries } from './delivery-list.ts';

const STATES: Readonly<Record<DeliveryStateName, DeliveryState>> = {
  waiting: DeliveryState.WAITING,
  due: DeliveryState.DUE,
  delivered: DeliveryState.DELIVERED,
  dead: DeliveryState.DEAD,
};
const NAMES = new Map(
  Object.entries(STATES).map(([name, state]) => [state, name as DeliveryStateName]),
);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function webhooksRoutes(pool: Pool): ServiceRoutes {
  return implement(
    WebhooksService,
    onDatabase({
      async listDeliveries({ applicationId, state, limit, cursor }) {
        if (cursor !== '' && !UUID.test(cursor)) {
          throw invalid('invalid_cursor', 'the cursor is not one of ours', [
            { pointer: '/cursor', message: 'is not one of ours' },
          ]);
        }
        const listed = await listDeliveries(pool, {
          applicationId: applicationId || undefined,
          state: NAMES.get(state),
          before: cursor || undefined,
          // One more than asked for tells whether there is another page.
          limit: limit + 1,
        });
        const page = listed.slice(0, limit);
        const nextCursor = listed.length > limit ? (page.at(-1)?.id ?? '') : '';
        return { deliveries: page.map(toMessage), nextCursor };
      },
    }),
  );
}

function toMessage(delivery: ListedDelivery) {
  const { id, sequence, state, reason, createdAt, nextAttemptAt, attempts, ...rest } = delivery;
  return {
    ...rest,
    deliveryId: id,
    sequence: BigInt(sequence ?? 0),
    state: STATES[state],
    reason: reason ?? '',
    createdAt: timestampFromDate(createdAt),
    ...(nextAttemptAt && { nextAttemptAt: timestampFromDate(nextAttemptAt) }),
    attempts: attempts.map(({ startedAt, durationMs, status, failure }) => ({
      startedAt: timestampFromDate(new Date(startedAt)),
      durationMs,
      status: status ?? 0,
      failure: failure ?? '',
    })),
  };
}
