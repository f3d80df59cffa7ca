import { randomUUID } from 'node:crypto';
import { migrate } from '@creditlane/postgres/migrate';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/webhooks_service';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Webhooks1763700000000 } from './migrations/0001-webhooks.ts';
import { destinationRevisions1763800000000 } from './migrations/0002-destination-revisions.ts';
import { messageTraces1763900000000 } from './migrations/0003-message-traces.ts';
import { deliveriesClient, ownerOf } from './own-deliveries/test-owner.ts';
import { createTestFixture, sequences, type TestFixture, upTo } from './test-fixture.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

/** The migrations of the last release. */
const RELEASED = [
  Webhooks1763700000000,
  destinationRevisions1763800000000,
  messageTraces1763900000000,
];

/** A pending delivery as the last release stores it: the first of its lane is due, and the others wait. */
async function addPendingDelivery(destinationId: string, sequence: number): Promise<string> {
  const [id, eventId] = [randomUUID(), randomUUID()];
  const { applicationId, creditorId } = fixture;
  await fixture.sql.query(
    `INSERT INTO messages (event_id, event, creditor_id, body, recorded_at, traceparent)
     VALUES ($1, 'applicationBooked', $2, $3, now(), NULL)`,
    [eventId, creditorId, JSON.stringify({ sequence })],
  );
  await fixture.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased,
       fence, next_attempt_at)
     VALUES ($1, $2, $3, $4, $5, CASE WHEN $5::bigint = 1 THEN 'due' ELSE 'waiting' END, false, 0,
       CASE WHEN $5::bigint = 1 THEN now() END)`,
    [id, eventId, destinationId, applicationId, sequence],
  );
  return id;
}

it('pending deliveries in a database of the last release are delivered in order, before new deliveries', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  await migrate(fixture.environment.DATABASE_URL, RELEASED, silentLog);
  const { applicationId, creditorId } = fixture;
  await fixture.sql.query('INSERT INTO submissions VALUES ($1, $2, 3)', [
    applicationId,
    creditorId,
  ]);
  await fixture.sql.query(
    `INSERT INTO sequences (application_id, destination_id, creditor_id, last_sequence)
     VALUES ($1, $2, $3, 3)`,
    [applicationId, destinationId, creditorId],
  );
  for (const sequence of upTo(3)) await addPendingDelivery(destinationId, sequence);

  const { bus, settled } = await fixture.start();
  await bus.publish([fixture.event({ sequence: 3 }), fixture.event({ sequence: 4 })]);
  await settled();
  expect(sequences(received)).toEqual([1, 2, 3, 4]);
  expect(received.slice(0, 3).map(({ body }) => JSON.parse(body))).toEqual(
    upTo(3).map((sequence) => ({ sequence })),
  );
});

it('ended deliveries in a database of the last release are listed beside later ones, and can be replayed', async () => {
  const receiver = await fixture.addReceiver();
  const { received, destinationId } = receiver;
  await migrate(fixture.environment.DATABASE_URL, RELEASED, silentLog);
  const { applicationId, creditorId } = fixture;
  await fixture.sql.query('INSERT INTO submissions VALUES ($1, $2, 1)', [
    applicationId,
    creditorId,
  ]);
  await fixture.sql.query(
    `INSERT INTO sequences (application_id, destination_id, creditor_id, last_sequence)
     VALUES ($1, $2, $3, 1)`,
    [applicationId, destinationId, creditorId],
  );
  const deliveryId = await addPendingDelivery(destinationId, 1);
  await fixture.sql.query(
    `UPDATE deliveries SET state = 'dead', settled_at = now(), created_at = now() - interval '1 day'`,
  );

  const dispatcher = await fixture.start();
  const { bus, settled } = dispatcher;
  await bus.publish([fixture.event({ sequence: 2 })]);
  await settled();
  const client = deliveriesClient(dispatcher);
  const { deliveries } = await client.listOwnDeliveries({ limit: 10 }, ownerOf(receiver));
  expect(deliveries.map(({ sequence, state }) => [Number(sequence), state])).toEqual([
    [2, DeliveryState.DELIVERED],
    [1, DeliveryState.DEAD],
  ]);
  await client.replayDelivery({ deliveryId }, ownerOf(receiver));
  await settled();
  expect(sequences(received)).toEqual([2, 1]);
});
