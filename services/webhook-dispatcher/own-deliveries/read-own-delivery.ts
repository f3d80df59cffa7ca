/** Reads a delivery with its latest attempts, for the owner of its destination. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { runPipeline } from '@creditlane/postgres/pipeline';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import type { Call } from '@creditlane/rpc/call';
import type { EventTypes } from '../events/record-ids.ts';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import {
  findAttemptsQuery,
  findOwnDeliveryOfAnyDay,
  findOwnDeliveryQuery,
  type OwnAttemptRow,
} from '../store/own-deliveries.ts';
import { deliveryNotFound, toOwnDelivery } from './own-delivery.ts';
import { deliveriesOf } from './own-destination.ts';

const MAX_ATTEMPTS = 1_000;

export interface ReadOwnDeliveryDeps {
  readonly requests: RequestPool;
  readonly eventTypes: EventTypes;
}

/** @throws Fault `delivery_not_found` */
export async function readOwnDelivery(
  { requests, eventTypes }: ReadOwnDeliveryDeps,
  destination: DestinationRevision | undefined,
  deliveryId: string,
  call: Call,
) {
  if (destination === undefined) throw deliveryNotFound();
  const { destinationId } = destination;
  const db = deliveriesOf(requests, call, destination);
  const [found, attempts] = await runPipeline(db, [
    findOwnDeliveryQuery(deliveryId, destinationId),
    findAttemptsQuery(deliveryId, MAX_ATTEMPTS),
  ]);
  const row = found ?? (await findOwnDeliveryOfAnyDay(db, deliveryId, destinationId));
  if (row === undefined) throw deliveryNotFound();
  return { delivery: toOwnDelivery(row, eventTypes), attempts: attempts.map(toOwnAttempt) };
}

function toOwnAttempt({ startedAt, durationMs, status, failure }: OwnAttemptRow) {
  return {
    startedAt: timestampFromDate(startedAt),
    durationMs,
    status: status ?? 0,
    failure: failure ?? '',
  };
}
