/** The operations on an integration's own webhook destination and on the deliveries to it. */
import {
  type DeliveriesService,
  ListOwnDeliveriesRequestSchema,
  OwnDeliverySchema,
  type OwnDestination,
  OwnDestinationSchema,
  ReplayFilterSchema,
  ReplaySchema,
  SendTestEventResponseSchema,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import { AttemptSchema } from '@creditlane/proto/webhooks/v1/delivery';
import type { Client } from '@creditlane/rpc/client';
import { internal } from '@creditlane/rpc/fault';
import { defineHandlers } from './handlers.ts';
import { readTimes } from './service-messages/date-time.ts';
import { messageReader, messageWriter } from './service-messages/json-message.ts';
import {
  answerPage,
  renameRefusedFields,
  requireRecord,
  withoutEmptyFilter,
} from './service-messages/service-answers.ts';

const DEFAULT_PAUSE_HOURS = 24;
const TIMES = ['createdFrom', 'createdBefore'] as const;
const readFilter = messageReader(ListOwnDeliveriesRequestSchema, { except: TIMES });
const readReplayFilter = messageReader(ReplayFilterSchema, { except: TIMES });
const writeDelivery = messageWriter(OwnDeliverySchema);
const writeAttempt = messageWriter(AttemptSchema, { except: ['status'] });
const writeReplay = messageWriter(ReplaySchema);
const writeDestinationMessage = messageWriter(OwnDestinationSchema);
const writeSentTestEvent = messageWriter(SendTestEventResponseSchema, { except: ['sealedAnswer'] });

const writeDestination = (destination: OwnDestination | undefined) =>
  withoutEmptyFilter(writeDestinationMessage(requireRecord(destination)));

/** `examples` has the payload of each test event, by the name of the webhook. */
export function deliveryOperations(
  deliveries: Client<typeof DeliveriesService>,
  examples: ReadonlyMap<string, string>,
) {
  return defineHandlers({
    async listDeliveries({ query, context }) {
      const request = { ...readFilter(query), ...readTimes(query, TIMES, { in: 'query' }) };
      const call = deliveries.listOwnDeliveries(request, context);
      return await answerPage(call, (page) => page.deliveries.map(writeDelivery));
    },

    async getDelivery({ path, context }) {
      const { delivery, attempts } = await deliveries.getOwnDelivery(path, context);
      return {
        ...writeDelivery(requireRecord(delivery)),
        attempts: attempts.map((attempt) => ({
          ...writeAttempt(attempt),
          status: attempt.status || undefined,
        })),
      };
    },

    async replayDelivery({ path, context }) {
      const { delivery } = await deliveries.replayDelivery(path, context);
      return writeDelivery(requireRecord(delivery));
    },

    async replayDeliveries({ body, context }) {
      const filter = { ...readReplayFilter(body), ...readTimes(body, TIMES) };
      const call = deliveries.replayDeliveries({ filter }, context);
      const { replay } = await renameRefusedFields(call, [{ from: '/filter', to: '' }]);
      return writeReplay(requireRecord(replay));
    },

    async getReplay({ path, context }) {
      const { replay } = await deliveries.getReplay(path, context);
      return writeReplay(requireRecord(replay));
    },

    async cancelReplay({ path, context }) {
      const { replay } = await deliveries.cancelReplay(path, context);
      return writeReplay(requireRecord(replay));
    },

    async getDestination({ context }) {
      const { destination } = await deliveries.getOwnDestination({}, context);
      return writeDestination(destination);
    },

    async pauseDestination({ body, context }) {
      const request = { hours: body?.hours ?? DEFAULT_PAUSE_HOURS };
      const { destination } = await deliveries.pauseOwnDestination(request, context);
      return writeDestination(destination);
    },

    async resumeDestination({ context }) {
      const { destination } = await deliveries.resumeOwnDestination({}, context);
      return writeDestination(destination);
    },

    async sendTestEvent({ body: { event }, context }) {
      const payload = examples.get(event);
      if (payload === undefined) throw internal(new Error(`the webhook ${event} has no example`));
      const sent = await deliveries.sendTestEvent({ event, payload }, context);
      return { event, ...writeSentTestEvent(sent) };
    },
  });
}
