/** The dispatcher's contract: the list of deliveries, for the platform's operators. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Database } from '@creditlane/postgres/database';
import { translateDatabaseErrors } from '@creditlane/postgres/database-fault';
import { WebhooksService } from '@creditlane/proto/webhooks/v1/webhooks_service';
import { invalidFields } from '@creditlane/rpc/fault';
import { itemsThatFit } from '@creditlane/rpc/lists/list-page';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { isCanonicalUuid } from '@creditlane/runtime/ids';
import { DELIVERY_STATES, stateNameOf } from './delivery-states.ts';
import { type EventTypes, recordIdsOf } from './events/record-ids.ts';
import { type ListedDelivery, listDeliveries } from './store/delivery-list.ts';

export function webhooksRoutes(database: Database, eventTypes: EventTypes): ServiceRoutes {
  return implement(
    WebhooksService,
    translateDatabaseErrors({
      async listDeliveries({ applicationId, state, limit, cursor }) {
        if (cursor !== '' && !isCanonicalUuid(cursor)) {
          const message = 'must be the nextCursor of an earlier page of the same list';
          throw invalidFields('invalid_cursor', [{ pointer: '/cursor', message }]);
        }
        const listed = await listDeliveries(database, {
          applicationId: applicationId || undefined,
          state: stateNameOf(state),
          before: cursor || undefined,
          // One delivery more than the page holds shows whether there is a next page.
          limit: limit + 1,
        });
        const page = itemsThatFit(listed, limit, (row) => toMessage(row, eventTypes));
        const nextCursor = page.length < listed.length ? (page.at(-1)?.deliveryId ?? '') : '';
        return { deliveries: page, nextCursor };
      },
    }),
  );
}

function toMessage(row: ListedDelivery, eventTypes: EventTypes) {
  const { id, eventId, destinationId, orderingKey, message, nextAttemptAt } = row;
  return {
    deliveryId: id,
    eventId,
    destinationId,
    ...recordIdsOf({ ...message, orderingKey }, eventTypes),
    event: message.event,
    sequence: BigInt(row.sequence ?? 0),
    state: DELIVERY_STATES[row.state],
    reason: row.reason ?? '',
    destinationDisabledReason: row.destination?.disabledReason ?? '',
    createdAt: timestampFromDate(row.createdAt),
    // A delivery that became dead with its destination keeps the time in its row.
    ...(row.state === 'due' &&
      nextAttemptAt && { nextAttemptAt: timestampFromDate(nextAttemptAt) }),
    attempts: row.attempts.map(({ startedAt, durationMs, status, failure }) => ({
      startedAt: timestampFromDate(startedAt),
      durationMs,
      status: status ?? 0,
      failure: failure ?? '',
    })),
  };
}
