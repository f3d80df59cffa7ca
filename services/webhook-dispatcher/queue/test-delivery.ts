/** A leased delivery for tests. */
import type { LeasedDelivery } from './delivery.ts';

export const testDelivery: LeasedDelivery = {
  id: 'delivery',
  fence: 1,
  attempts: 0,
  orderingKey: 'application',
  destinationId: 'destination',
  event: 'applicationBooked',
  body: '{}',
  reference: null,
  sequence: 1,
  recordedAt: new Date(0),
  traceparent: null,
};
