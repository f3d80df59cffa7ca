/**
 * Replays a delivery that has ended: sends it again with the same id and body, in a new series of attempts. A delivery that
 * waits for its next attempt is due now.
 */
import { create } from '@bufbuild/protobuf';
import { answerCall } from '@creditlane/idempotency/answer-call';
import type { RequestPool } from '@creditlane/postgres/row-security/request-pool';
import { runQuery } from '@creditlane/postgres/statement';
import { inTransaction } from '@creditlane/postgres/transaction';
import {
  type ReplayDeliveryResponse,
  ReplayDeliveryResponseSchema,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import type { Call } from '@creditlane/rpc/call';
import { conflict, type Fault } from '@creditlane/rpc/fault';
import type { DestinationRevision } from '../events/webhook-event-type.ts';
import type { Backlog } from '../queue/backlog.ts';
import type { OpenBreakers } from '../queue/open-breakers.ts';
import { enableDestinationsQuery } from '../store/destinations.ts';
import { endTimesOf } from '../store/history/end-times.ts';
import { findOwnDelivery, findOwnDeliveryQuery } from '../store/own-deliveries.ts';
import {
  beginReplays,
  lockEarlierPending,
  lockReplayable,
  MAX_REPLAYS,
  makeDueNow,
  type ReplayableRow,
} from '../store/replay-delivery.ts';
import { deliveryNotFound, toOwnDelivery } from './own-delivery.ts';
import { deliveriesOf, destinationIsDisabled } from './own-destination.ts';
import { type RequireGrantDeps, requireGrant } from './require-grant.ts';

export interface ReplayDeps extends RequireGrantDeps {
  readonly requests: RequestPool;
  readonly breakers: Pick<OpenBreakers, 'requestProbe'>;
  readonly backlog: Pick<Backlog, 'add'>;
}

/**
 * Begins the replay of a delivery to `destination`. The delivery takes its former place in its lane: it waits
 * for an earlier delivery that is pending, and later ones that wait go on waiting behind it. A later one that
 * is due is not called back. A delivery that waits for its next attempt is due now, and the attempt
 * counts in its present series.
 *
 * @throws Fault `delivery_not_found`, `delivery_pending`, `destination_disabled`, `delivery_unsendable`,
 *   `grant_missing`, `too_many_replays`, or a fault of the idempotency key
 */
export async function replayDelivery(
  deps: ReplayDeps,
  destination: DestinationRevision | undefined,
  deliveryId: string,
  call: Call,
): Promise<ReplayDeliveryResponse> {
  const { requests, breakers, backlog, eventTypes } = deps;
  if (destination === undefined) throw deliveryNotFound();
  const { destinationId } = destination;
  const db = deliveriesOf(requests, call, destination);

  return answerCall(db, call, ReplayDeliveryResponseSchema, async (store) => {
    const stored = await findOwnDelivery(db, deliveryId, destination);
    if (stored === undefined) throw deliveryNotFound();
    await requireGrant(deps, stored, call);
    const answer = await inTransaction(db.onRow(destinationId), async (tx) => {
      const likelyEnd = endTimesOf([stored.settledAt]);
      const start = await lockEarlierPending(tx, deliveryId, destinationId, likelyEnd);
      if (start === undefined) throw deliveryNotFound();
      const { waits, endTimes } = start;
      const found = await lockReplayable(tx, deliveryId, destination, endTimes);
      if (found === undefined) throw deliveryNotFound();
      if (waitsForAttempt(found)) {
        await makeDueNow(tx, deliveryId);
      } else {
        const refusal = refusalOf(found);
        if (refusal !== undefined) throw refusal;
        await beginReplays(tx, [{ id: deliveryId, waits }], endTimes);
      }
      // What is pending to a destination whose earlier revision is disabled would be ended.
      await runQuery(tx, enableDestinationsQuery(new Map([[destinationId, destination.revision]])));
      const inQueue = findOwnDeliveryQuery(deliveryId, destination, endTimes);
      const replayed = await runQuery(tx, inQueue);
      if (replayed === undefined) throw deliveryNotFound();
      const delivery = toOwnDelivery(replayed, eventTypes);
      const response = create(ReplayDeliveryResponseSchema, { delivery });
      await store(tx, response);
      return response;
    });
    breakers.requestProbe(destination);
    backlog.add([destinationId]);
    return answer;
  });
}

function waitsForAttempt({ state, leased, destinationDisabled }: ReplayableRow): boolean {
  return state === 'due' && !leased && !destinationDisabled;
}

/** Why no new series of attempts can begin for a delivery in this state. */
export function refusalOf(found: ReplayableRow): Fault | undefined {
  const { state, replays, unsendable, destinationDisabled } = found;
  if (destinationDisabled) return destinationIsDisabled();
  if (state === 'waiting') {
    const message = 'The delivery waits for an earlier one of its application.';
    return conflict('delivery_pending', message);
  }
  if (state === 'due') {
    const message = 'The delivery is pending: an attempt is under way, or the next one is planned.';
    return conflict('delivery_pending', message);
  }
  if (unsendable) {
    return conflict('delivery_unsendable', 'The event has no body that could be sent.');
  }
  if (replays >= MAX_REPLAYS) {
    return conflict('too_many_replays', `The delivery was replayed ${MAX_REPLAYS} times already.`);
  }
  return undefined;
}
