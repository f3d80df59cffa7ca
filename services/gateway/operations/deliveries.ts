/** The operations on the deliveries to an integration's own webhook destination. */
import { type Timestamp, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type DeliveriesService,
  ListOwnDeliveriesRequestSchema,
  OwnDeliverySchema,
  SendTestEventResponseSchema,
} from '@creditlane/proto/webhooks/v1/deliveries_service';
import { AttemptSchema } from '@creditlane/proto/webhooks/v1/webhooks_service';
import type { Client } from '@creditlane/rpc/client';
import { internal } from '@creditlane/rpc/fault';
import { refusedFields } from '../document/validation-messages.ts';
import { CURSOR, defineHandlers, renameRefusedFields, requireRecord } from './handlers.ts';
import { messageReader, messageWriter } from './json-message.ts';

const readFilter = messageReader(ListOwnDeliveriesRequestSchema, {
  except: ['createdFrom', 'createdBefore'],
});
const writeDelivery = messageWriter(OwnDeliverySchema);
const writeAttempt = messageWriter(AttemptSchema, { except: ['status'] });
const writeSentTestEvent = messageWriter(SendTestEventResponseSchema);

/** `examples` has the payload of each test event, by the name of the webhook. */
export function deliveryOperations(
  deliveries: Client<typeof DeliveriesService>,
  examples: ReadonlyMap<string, string>,
) {
  return defineHandlers({
    async listDeliveries({ query, context }) {
      const { createdFrom, createdBefore } = query;
      const request = {
        ...readFilter(query),
        ...(createdFrom !== undefined && { createdFrom: readTime('createdFrom', createdFrom) }),
        ...(createdBefore !== undefined && {
          createdBefore: readTime('createdBefore', createdBefore),
        }),
      };
      const call = deliveries.listOwnDeliveries(request, context);
      const page = await renameRefusedFields(call, [CURSOR]);
      return { data: page.deliveries.map(writeDelivery), nextCursor: page.nextCursor || null };
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

    async sendTestEvent({ body: { event }, context }) {
      const payload = examples.get(event);
      if (payload === undefined) throw internal(new Error(`the webhook ${event} has no example`));
      const sent = await deliveries.sendTestEvent({ event, payload }, context);
      return { event, ...writeSentTestEvent(sent) };
    },
  });
}

/** Throws an `invalid` Fault for a time in the form of RFC 3339 that no calendar has, such as 23:59:60. */
function readTime(name: string, text: string): Timestamp {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw refusedFields([{ in: 'query', pointer: `/${name}`, message: 'must be a date and time' }]);
  }
  return timestampFromDate(time);
}
