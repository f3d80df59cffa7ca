/** For tests: the deliveries of the webhook dispatcher, as the gateway calls them. */
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { DeliveriesService, ReplayState } from '@creditlane/proto/webhooks/v1/deliveries_service';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { notFound } from '@creditlane/rpc/fault';
import type { ServiceRoutes } from '@creditlane/rpc/service';
import { newId } from '@creditlane/runtime/ids';
import { recordingFake, type TestServices } from './test-services.ts';

/** Every integration owns all deliveries. */
export function fakeDeliveriesService(services: TestServices): ServiceRoutes[] {
  const own = (id: string) => {
    const delivery = services.deliveries.find(({ deliveryId }) => deliveryId === id);
    if (delivery === undefined) throw notFound('delivery_not_found', 'there is no such delivery');
    return delivery;
  };
  const replay = {
    state: ReplayState.COUNTING,
    filter: { state: DeliveryState.DEAD },
    matched: 7,
    requestedAt: timestampFromDate(new Date('2026-03-02T15:04:05.678Z')),
  };
  const destination = { destinationId: newId(), url: 'https://hooks.example.com/creditlane' };
  return [
    recordingFake(services, DeliveriesService, {
      listOwnDeliveries: async () => ({ deliveries: services.deliveries, nextCursor: 'next' }),
      getOwnDelivery: async (request) => {
        const startedAt = timestampFromDate(new Date('2026-03-02T15:04:05.678Z'));
        const attempts = [
          { startedAt, durationMs: 15_000, status: 0, failure: 'deadline' },
          { startedAt, durationMs: 41, status: 500, answer: 'no "disk"\0' },
        ];
        return { delivery: own(request.deliveryId), attempts };
      },
      replayDelivery: async (request) => ({ delivery: own(request.deliveryId) }),
      replayDeliveries: async (request) => ({
        replay: { ...replay, replayId: newId(), filter: request.filter },
      }),
      getReplay: async (request) => {
        const stopped = { state: ReplayState.STOPPED, reason: 'destination_disabled' };
        return { replay: { ...replay, replayId: request.replayId, ...stopped } };
      },
      cancelReplay: async (request) => {
        const { replayId } = request;
        return { replay: { ...replay, replayId, state: ReplayState.CANCELLED } };
      },
      getOwnDestination: async () => ({ destination }),
      pauseOwnDestination: async () => ({
        destination: {
          ...destination,
          events: ['applicationBooked'],
          deliveriesPerSecond: 20,
          pausedUntil: timestampFromDate(new Date('2026-03-02T17:30:00.000Z')),
        },
      }),
      resumeOwnDestination: async () => ({ destination }),
      sendTestEvent: async () => ({
        webhookId: newId(),
        succeeded: true,
        status: 204,
        durationMs: 41,
      }),
    }),
  ];
}
