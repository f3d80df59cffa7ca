/** For tests: the deliveries of the webhook dispatcher, as the gateway calls them. */
import type { MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  DeliveriesService,
  type OwnDeliverySchema,
  ReplayState,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/webhooks_service';
import type { Call } from '@creditlane/rpc/call';
import { notFound } from '@creditlane/rpc/fault';
import { fakeService } from '@creditlane/rpc/test-fake-service';
import { newId } from '@creditlane/runtime/ids';

export type TestDelivery = Exclude<
  MessageInitShape<typeof OwnDeliverySchema>,
  MessageShape<typeof OwnDeliverySchema>
>;

/**
 * Every integration owns the deliveries that `deliveries` returns.
 *
 * @param record is called first for each call, and may throw the call's error
 */
export function fakeDeliveriesService(
  deliveries: () => TestDelivery[],
  record: (method: string, request: object, call: Call) => void,
) {
  const own = (id: string) => {
    const delivery = deliveries().find(({ deliveryId }) => deliveryId === id);
    if (delivery === undefined) throw notFound('delivery_not_found', 'there is no such delivery');
    return delivery;
  };
  const replay = {
    state: ReplayState.COUNTING,
    filter: { state: DeliveryState.DEAD },
    matched: 7,
    requestedAt: timestampFromDate(new Date('2026-03-02T15:04:05.678Z')),
  };
  return fakeService(DeliveriesService, {
    listOwnDeliveries: async (request, call) => {
      record('listOwnDeliveries', request, call);
      return { deliveries: deliveries(), nextCursor: 'next' };
    },
    getOwnDelivery: async (request, call) => {
      record('getOwnDelivery', request, call);
      const startedAt = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
      const attempts = [
        { startedAt, durationMs: 15_000, status: 0, failure: 'deadline' },
        { startedAt, durationMs: 41, status: 500, failure: '' },
      ];
      return { delivery: own(request.deliveryId), attempts };
    },
    replayDelivery: async (request, call) => {
      record('replayDelivery', request, call);
      if (call.idempotency?.key === 'replayed') call.markReplayed();
      return { delivery: own(request.deliveryId) };
    },
    replayDeliveries: async (request, call) => {
      record('replayDeliveries', request, call);
      if (call.idempotency?.key === 'replayed') call.markReplayed();
      return { replay: { ...replay, replayId: newId(), filter: request.filter } };
    },
    getReplay: async (request, call) => {
      record('getReplay', request, call);
      const stopped = { state: ReplayState.STOPPED, reason: 'destination_disabled' };
      return { replay: { ...replay, replayId: request.replayId, ...stopped } };
    },
    cancelReplay: async (request, call) => {
      record('cancelReplay', request, call);
      const { replayId } = request;
      return { replay: { ...replay, replayId, state: ReplayState.CANCELLED } };
    },
    sendTestEvent: async (request, call) => {
      record('sendTestEvent', request, call);
      return { webhookId: newId(), succeeded: true, status: 204, durationMs: 41 };
    },
  });
}
