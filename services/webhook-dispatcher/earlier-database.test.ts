import { randomUUID } from 'node:crypto';
import { migrate } from '@creditlane/postgres/migrate';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { DeliveryState } from '@creditlane/proto/webhooks/v1/delivery';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { webhooks1763700000000 } from './migrations/0001-webhooks.ts';
import { destinationRevisions1763800000000 } from './migrations/0002-destination-revisions.ts';
import { messageTraces1763900000000 } from './migrations/0003-message-traces.ts';
import { historyStorage } from './migrations/0016-history-storage.ts';
import { deliveriesClient, ownerOf } from './own-deliveries/test-owner.ts';
import { webhookDispatcher } from './service.ts';
import { createTestFixture, sequences, type TestFixture, upTo } from './test-fixture.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture(() => createTestDatabase('webhooks'));
});
afterEach(() => fixture.close());

const MIGRATIONS = webhookDispatcher.database?.migrations ?? [];
/** The migrations of earlier versions: of the first one, and of the last one without attempts and messages by day. */
const RELEASES = [
  {
    release: 'the first release',
    migrations: [
      webhooks1763700000000,
      destinationRevisions1763800000000,
      messageTraces1763900000000,
    ],
  },
  {
    release: 'the last release',
    migrations: MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((it) => historyStorage.includes(it)),
    ),
  },
];

/** The sequences of a submission whose first `last` decisions were handled. */
async function addSequences(destinationId: string, last: number): Promise<void> {
  const { applicationId, creditorId } = fixture;
  await fixture.sql.query('INSERT INTO submissions VALUES ($1, $2, $3)', [
    applicationId,
    creditorId,
    last,
  ]);
  await fixture.sql.query(
    `INSERT INTO sequences (application_id, destination_id, creditor_id, last_sequence)
     VALUES ($1, $2, $3, $4)`,
    [applicationId, destinationId, creditorId, last],
  );
}

/** A pending delivery as these releases store it: the first of its lane is due, and the others wait. */
async function addPendingDelivery(destinationId: string, sequence: number): Promise<string> {
  const [id, eventId] = [randomUUID(), randomUUID()];
  const { applicationId, creditorId, retailerId } = fixture;
  await fixture.sql.query(
    `INSERT INTO messages (event_id, event, creditor_id, body, recorded_at, traceparent)
     VALUES ($1, 'applicationBooked', $2, $3, now(), NULL)`,
    [eventId, creditorId, JSON.stringify({ retailerId, creditorId, sequence })],
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

test.each(RELEASES)(
  'pending deliveries in a database of $release are delivered in order, before new deliveries',
  async ({ migrations }) => {
    const { received, destinationId } = await fixture.addReceiver();
    await migrate(fixture.environment.DATABASE_URL, migrations, silentLog);
    await addSequences(destinationId, 3);
    for (const sequence of upTo(3)) await addPendingDelivery(destinationId, sequence);

    const { bus, settled } = await fixture.start();
    await bus.publish([fixture.event({ sequence: 3 }), fixture.event({ sequence: 4 })]);
    await settled();
    expect(sequences(received)).toEqual([1, 2, 3, 4]);
    expect(received.slice(0, 3).map(({ body }) => JSON.parse(body))).toEqual(
      upTo(3).map((sequence) => expect.objectContaining({ sequence })),
    );
  },
);

test.each(RELEASES)(
  'ended deliveries in a database of $release are listed beside later ones, and can be replayed',
  async ({ migrations }) => {
    const receiver = await fixture.addReceiver();
    const { received, destinationId } = receiver;
    await migrate(fixture.environment.DATABASE_URL, migrations, silentLog);
    await addSequences(destinationId, 1);
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
  },
);
