/** A delivery as the owner of its destination sees it. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { notFound } from '@creditlane/rpc/fault';
import { DELIVERY_STATES } from '../delivery-states.ts';
import { type EventTypes, recordIdsOf } from '../events/record-ids.ts';
import type { OwnDeliveryRow } from '../store/own-deliveries.ts';

export function toOwnDelivery(row: OwnDeliveryRow, eventTypes: EventTypes) {
  const { state, createdAt, nextAttemptAt, settledAt, replayedAt } = row;
  return {
    deliveryId: row.id,
    event: row.event,
    ...recordIdsOf(row, eventTypes),
    ...(row.sequence !== null && { sequence: row.sequence }),
    state: DELIVERY_STATES[state],
    reason: row.reason ?? '',
    attemptCount: row.attempts,
    createdAt: timestampFromDate(createdAt),
    // A delivery that became dead with its destination keeps the time in its row.
    ...(state === 'due' && nextAttemptAt && { nextAttemptAt: timestampFromDate(nextAttemptAt) }),
    ...(settledAt && { settledAt: timestampFromDate(settledAt) }),
    ...(replayedAt && { replayedAt: timestampFromDate(replayedAt) }),
    destinationDisabledReason: row.destinationDisabledReason ?? '',
  };
}

/** For a delivery that does not exist, or belongs to another integration or a removed destination. */
export const deliveryNotFound = () => notFound('delivery_not_found', 'There is no such delivery.');
