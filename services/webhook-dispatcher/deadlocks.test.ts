// Statements take their locks in one order, but those of an earlier version, beside which this one runs during an upgrade, take
// them in another. PostgreSQL then ends one of the two transactions, which is repeated.

import { isContentionError } from '@creditlane/postgres/error-classes';
import { runPipeline } from '@creditlane/postgres/pipeline';
import { runQuery } from '@creditlane/postgres/statement';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { asAdmin } from '@creditlane/postgres/test-database';
import { newId } from '@creditlane/runtime/ids';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { NOTHING_STORED, planDeliveries } from './intake/plan.ts';
import {
  findStoredStateQuery,
  insertPlanQuery,
  lockOrderingKeysQuery,
} from './store/intake/two-round-trip-intake.ts';
import {
  createTestFixture,
  type Dispatcher,
  sequences,
  type TestFixture,
  upTo,
} from './test-fixture.ts';

const LEASE_MS = 1_000;
/** After so long a session looks for a deadlock: at once, or never in this test. */
type DeadlockTimeout = '1ms' | '1min';

let fixture: TestFixture;
const sessions: pg.Client[] = [];
beforeEach(async () => {
  fixture = await createTestFixture();
});
afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.end()));
  await fixture.close();
});

/** Starts a dispatcher whose transactions are ended by deadlocks, or are not. */
async function startWith(timeout: DeadlockTimeout) {
  await asAdmin([
    `ALTER ROLE ${new URL(fixture.database.url).username} SET deadlock_timeout = '${timeout}'`,
  ]);
  return fixture.start();
}

/** A session of a superuser, which may set when it looks for a deadlock. */
async function openSession(timeout: DeadlockTimeout): Promise<pg.Client> {
  const url = new URL(inject('postgresUrl'));
  url.pathname = new URL(fixture.database.url).pathname;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  sessions.push(client);
  await client.query(`SET deadlock_timeout = '${timeout}'`);
  return client;
}

/** An intake of the version that inserts into the inbox before it locks ordering keys, in its two parts. */
function earlierIntake(client: pg.Client, eventIds: readonly string[], destinationId: string) {
  const { applicationId: orderingKey, creditorId: numberingKey } = fixture;
  const recipients = [{ destinationId, revision: 1 }];
  const lane = { seriesPosition: undefined, orderingKey, recipients };
  return {
    /** Resolves to the ids of the new events. */
    async insert(): Promise<string[]> {
      await client.query('BEGIN');
      const { rows } = await client.query(
        `INSERT INTO inbox (consumer, event_id, expected_effects)
         SELECT 'webhook-dispatcher', id, 1 FROM unnest($1::uuid[]) AS e (id)
         ON CONFLICT DO NOTHING RETURNING event_id`,
        [eventIds],
      );
      return rows.map(({ event_id }) => event_id);
    },
    async lockAndCommit(): Promise<void> {
      const [, stored] = await runPipeline(client, [
        lockOrderingKeysQuery([lane]),
        findStoredStateQuery([lane]),
      ]);
      const content = { kind: 'body', body: '{}' } as const;
      const webhook = {
        event: 'applicationBooked',
        orderingKey,
        numberingKey,
        content,
        recipients,
      };
      const events = eventIds.map((eventId, n) => {
        const seriesPosition = { orderingKey, numberingKey, sequence: n + 1 };
        const recordedAt = new Date();
        return { eventId, recordedAt, traceparent: undefined, seriesPosition, webhook };
      });
      const plan = planDeliveries(events, stored ?? NOTHING_STORED, newId);
      await runQuery(client, insertPlanQuery(plan, new Set(), LEASE_MS));
      await client.query('COMMIT');
    },
  };
}

/** The events of one submission, and their ids, of which the earlier version has the first two. */
function threeEvents() {
  const ids = upTo(3).map(() => newId());
  const events = ids.map((eventId, n) => fixture.event({ eventId, sequence: n + 1 }));
  return { events, shared: ids.slice(0, 2) };
}

test('an intake that a deadlock with an earlier version has ended is repeated, and every event is delivered once', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  const dispatcher = await startWith('1ms');
  const { events, shared } = threeEvents();
  const earlier = earlierIntake(await openSession('1min'), shared, destinationId);
  const holder = await openSession('1min');

  expect(await earlier.insert()).toEqual(shared);
  await holder.query('BEGIN; LOCK TABLE messages IN SHARE MODE');
  const ended = dispatcher.bus.publish(events).catch((error: unknown) => error);
  // It has locked the ordering key.
  await untilWaiting(fixture.sql, 1);
  const committed = earlier.lockAndCommit();
  await untilWaiting(fixture.sql, 2);
  await holder.query('COMMIT');

  expect(await ended).toSatisfy(isContentionError);
  await committed;
  await dispatcher.bus.publish(events);
  await expectEachDeliveredOnce(dispatcher, received);
});

test('an intake beside an earlier version that a deadlock has ended delivers every event once', async () => {
  const { received, destinationId } = await fixture.addReceiver();
  const dispatcher = await startWith('1min');
  const { events, shared } = threeEvents();
  const session = await openSession('1ms');
  const earlier = earlierIntake(session, shared, destinationId);

  expect(await earlier.insert()).toEqual(shared);
  const applied = dispatcher.bus.publish(events);
  await untilWaiting(fixture.sql, 1);
  await expect(earlier.lockAndCommit()).rejects.toSatisfy(isContentionError);
  await session.query('ROLLBACK');
  await applied;
  expect(await earlier.insert()).toEqual([]);
  await session.query('ROLLBACK');
  await expectEachDeliveredOnce(dispatcher, received);
});

async function expectEachDeliveredOnce(
  { settled, logged }: Dispatcher,
  received: Parameters<typeof sequences>[0],
): Promise<void> {
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(2), { timeout: 15_000 });
  await settled();
  expect(sequences(received)).toEqual(upTo(3));
  const { rows } = await fixture.sql.query(
    'SELECT sequence::int, state FROM deliveries ORDER BY position',
  );
  expect(rows).toEqual(upTo(3).map((sequence) => ({ sequence, state: 'delivered' })));
  expect((await fixture.sql.query('SELECT FROM inbox')).rowCount).toBe(3);
  expect((await fixture.sql.query('SELECT FROM dead_letters')).rowCount).toBe(0);
  expect(logged().filter((line) => 'level' in line && line.level !== 'info')).toEqual([]);
}
