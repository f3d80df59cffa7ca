import { randomUUID } from 'node:crypto';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { inTransaction } from '@creditlane/postgres/transaction';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseTestEvent } from '../store/leases-of-test-events.ts';
import { insertReplayJob } from '../store/replay-jobs.ts';
import { createTestFixture, type Receiver, type TestFixture, until } from '../test-fixture.ts';
import { deliveriesClient, ownDeliveries, ownerOf } from './test-owner.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(() => fixture.close());

type Client = ReturnType<typeof deliveriesClient>;

interface WaitingCall {
  name: string;
  /** Locks a row for which the call waits. */
  hold(tx: Queryable, destinationId: string): Promise<unknown>;
  call(client: Client, receiver: Receiver, deliveryId: string): Promise<unknown>;
}

const lockDeliveries = defineStatement(
  'test_lock_deliveries',
  'SELECT FROM deliveries WHERE destination_id = $1 FOR UPDATE',
);

const NO_FILTER = {
  deliveryState: 'dead',
  event: null,
  createdFrom: null,
  createdBefore: null,
} as const;
const aJob = (destinationId: string) => ({
  ...NO_FILTER,
  id: randomUUID(),
  integrationId: destinationId,
  destinationId,
});

const CALLS: WaitingCall[] = [
  {
    name: 'replays of a delivery',
    hold: (tx, destinationId) => lockDeliveries.run(tx, [destinationId]),
    call: (client, receiver, deliveryId) =>
      client.replayDelivery({ deliveryId }, ownerOf(receiver)),
  },
  {
    name: 'requests of a replay job',
    hold: (tx, destinationId) => insertReplayJob(tx, aJob(destinationId)),
    call: (client, receiver) => client.replayDeliveries({ filter: {} }, ownerOf(receiver)),
  },
  {
    name: 'test events',
    hold: (tx, destinationId) => leaseTestEvent(tx, { destinationId, leaseId: randomUUID() }, 1),
    call: (client, receiver) =>
      client.sendTestEvent({ event: 'applicationDeclined', payload: '{}' }, ownerOf(receiver)),
  },
];

test.each(CALLS)(
  'while $name wait for a held row, the webhooks of others are delivered',
  async ({ hold, call }) => {
    const waiting = await fixture.addReceiver();
    const dispatcher = await fixture.start({ DATABASE_POOL_SIZE: '4' });
    await dispatcher.bus.publish([fixture.event()]);
    await dispatcher.settled();
    const [delivery] = await ownDeliveries(dispatcher, waiting);
    const other = await fixture.addReceiver();

    const calls = await inTransaction(fixture.sql, async (tx) => {
      await hold(tx, waiting.destinationId);
      const client = deliveriesClient(dispatcher);
      // More than the pool has connections. Those that have waited too long when the row is free are refused.
      const started = Array.from({ length: 6 }, () =>
        call(client, waiting, delivery?.deliveryId ?? '').catch(() => undefined),
      );
      await untilWaiting(fixture.sql, 1);
      // The others wait for their turn, without a connection.
      await expect.poll(dispatcher.metrics).toMatch(/\{[^}]*state="waiting_for_row"\} 5$/m);
      await dispatcher.bus.publish([fixture.event({ applicationId: randomUUID() })]);
      await until(() => expect(other.received).toHaveLength(1));
      return started;
    });
    await Promise.all(calls);
  },
);
