/** DeliveriesService: what an integration sees of the deliveries to its destination, and does with them. */
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { DeliveriesService } from '@creditlane/proto/webhooks/v1/deliveries_service';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { implement, type ServiceRoutes } from '@creditlane/rpc/service';
import { stateNameOf } from './delivery-states.ts';
import type { Destinations } from './destinations/destinations.ts';
import {
  type OwnDestinationDeps,
  pauseOwnDestination,
  readOwnDestination,
  resumeOwnDestination,
} from './own-deliveries/destination-state.ts';
import { checkRange, listOwnDeliveries } from './own-deliveries/list-own-deliveries.ts';
import { toOwnDelivery } from './own-deliveries/own-delivery.ts';
import { deliveriesOf, findOwnDestination } from './own-deliveries/own-destination.ts';
import { readOwnDelivery } from './own-deliveries/read-own-delivery.ts';
import { type ReplayDeps, replayDelivery } from './own-deliveries/replay-delivery.ts';
import {
  cancelReplayJob,
  type ReplayJobDeps,
  readReplayJob,
  requestReplayJob,
} from './own-deliveries/replay-jobs.ts';
import type { SendTestEvent } from './own-deliveries/send-test-event.ts';
import type { OpenBreakers } from './queue/open-breakers.ts';

export interface OwnDeliveriesDeps extends ReplayDeps, ReplayJobDeps, OwnDestinationDeps {
  readonly destinations: Pick<Destinations, 'ofIntegration' | 'isGranted' | 'get' | 'getUncached'>;
  readonly breakers: Pick<OpenBreakers, 'refresh' | 'requestProbe'>;
  readonly sendTestEvent: SendTestEvent;
}

export function deliveriesRoutes(deps: OwnDeliveriesDeps): ServiceRoutes {
  const { requests, destinations, eventTypes, sendTestEvent } = deps;
  return implement(DeliveriesService, {
    async listOwnDeliveries(request, call) {
      const { createdFrom, createdBefore } = request;
      const times = {
        createdFrom: createdFrom && readTime(createdFrom),
        createdBefore: createdBefore && readTime(createdBefore),
      };
      checkRange(times);
      const destination = await findOwnDestination(destinations, call);
      if (destination === undefined) return { deliveries: [], nextCursor: '' };
      const db = deliveriesOf(requests, call, destination);
      const filter = {
        destination,
        state: stateNameOf(request.state),
        event: request.event || undefined,
        applicationId: request.applicationId || undefined,
        ...times,
      };
      const page = await listOwnDeliveries(db, filter, eventTypes, request);
      return {
        deliveries: page.items.map((row) => toOwnDelivery(row, eventTypes)),
        nextCursor: page.nextCursor,
      };
    },

    async getOwnDelivery({ deliveryId }, call) {
      const destination = await findOwnDestination(destinations, call);
      return readOwnDelivery(deps, destination, deliveryId, call);
    },

    async replayDelivery({ deliveryId }, call) {
      const destination = await findOwnDestination(destinations, call);
      return replayDelivery(deps, destination, deliveryId, call);
    },

    async replayDeliveries({ filter }, call) {
      const destination = await findOwnDestination(destinations, call);
      const { state, event = '', createdFrom, createdBefore } = filter ?? {};
      const read = {
        deliveryState: state === DeliveryState.DELIVERED ? 'delivered' : 'dead',
        event: event || null,
        createdFrom: createdFrom ? readTime(createdFrom) : null,
        createdBefore: createdBefore ? readTime(createdBefore) : null,
      } as const;
      return requestReplayJob(deps, destination, read, call);
    },

    getReplay: async ({ replayId }, call) => readReplayJob(deps, replayId, call),

    cancelReplay: async ({ replayId }, call) => cancelReplayJob(deps, replayId, call),

    async getOwnDestination(_, call) {
      return readOwnDestination(deps, await findOwnDestination(destinations, call), call);
    },

    async pauseOwnDestination({ hours }, call) {
      const destination = await findOwnDestination(destinations, call);
      return pauseOwnDestination(deps, destination, hours, call);
    },

    async resumeOwnDestination(_, call) {
      return resumeOwnDestination(deps, await findOwnDestination(destinations, call), call);
    },

    async sendTestEvent(request, call) {
      return sendTestEvent(await findOwnDestination(destinations, call), request, call);
    },
  });
}

/** The nearest time within the years that an ISO date has four digits for; no delivery is outside them. */
function readTime(timestamp: Timestamp): Date {
  const ms = timestampDate(timestamp).getTime();
  return new Date(Math.min(Math.max(ms, 0), Date.UTC(9999, 11, 31)));
}
