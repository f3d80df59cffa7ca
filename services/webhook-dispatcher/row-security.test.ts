import { randomUUID } from 'node:crypto';
import type { RowScope } from '@creditlane/postgres/row-security/request-pool';
import { runQuery } from '@creditlane/postgres/statement';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { findBreaches, listUnsecuredTables } from '@creditlane/service/test-row-security';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAnswersQuery } from './store/attempt-answers.ts';
import { storeTestSuccess } from './store/destinations.ts';
import { endTimesOfIds } from './store/history/end-times.ts';
import {
  findAttemptsQuery,
  findOwnDeliveries,
  findOwnDeliveryQuery,
} from './store/own-deliveries.ts';
import { findDestinationState } from './store/pauses.ts';
import { lockReplayable } from './store/replay-delivery.ts';
import { insertDelivery, migrateDispatcher } from './test-deliveries.ts';

let database: TestDatabase;
beforeAll(async () => {
  // Not a copy, where the roles of another database have the privileges.
  database = await createTestDatabase('webhooks');
  await migrateDispatcher(database.url);
});
afterAll(() => database?.drop());

/** A new destination with a dead delivery, an answered attempt, a state and a lease, and a replay and a stored answer of `callerId`. */
async function insertTenant() {
  const callerId = randomUUID();
  const { id: deliveryId, destinationId } = await insertDelivery(database.sql, { state: 'dead' });
  const insert = (text: string, ...values: unknown[]) => database.sql.query(text, values);
  await insert(
    `INSERT INTO attempts (delivery_id, number, started_at, duration_ms) VALUES ($1, 1, now(), 1)`,
    deliveryId,
  );
  await insert("INSERT INTO attempt_answers VALUES ($1, now(), '')", deliveryId);
  await insert('INSERT INTO destination_states (destination_id) VALUES ($1)', destinationId);
  await insert(
    `INSERT INTO open_breakers VALUES ($1, 1, 0, now(), NULL, now() + interval '1 hour')`,
    destinationId,
  );
  await insert('INSERT INTO destination_rates VALUES ($1, 1, 1, now())', destinationId);
  await insert(
    'INSERT INTO test_event_leases VALUES ($1, gen_random_uuid(), now())',
    destinationId,
  );
  await insert(
    `INSERT INTO replay_jobs (id, integration_id, destination_id, delivery_state, cursor_created_at, cursor_id)
     VALUES (gen_random_uuid(), $1, $2, 'dead', now(), gen_random_uuid())`,
    callerId,
    destinationId,
  );
  await insert(
    `INSERT INTO idempotency (caller_id, operation, key, request_digest, response)
     VALUES ($1, 'operation', 'key', '', '')`,
    callerId,
  );
  return { deliveryId, destinationId, callerId };
}

test('every table is under row security, or out of the reach of requests', async () => {
  expect(await listUnsecuredTables(database)).toEqual({
    // TypeORM's list of the migrations that were run.
    migrations: [],
    // The order of webhooks, which only the service itself reads.
    submissions: [],
    sequences: [],
    // Of libs/messaging: only the service itself reads events.
    inbox: [],
    dead_letters: [],
    dead_letter_redrives: [],
    reconciliation_positions: [],
    reconciliation_differences: [],
    // What operators have asked for, which no request reads.
    delivery_redrives: [],
  });
});

test('without their filter, statements for one destination reach no row of another', async () => {
  const scopeOfNew = async (): Promise<RowScope> => {
    const { destinationId, callerId } = await insertTenant();
    return { destinations: [destinationId], integrations: [callerId], callers: [callerId] };
  };
  const tenants = { own: await scopeOfNew(), foreign: await scopeOfNew() };
  expect(await findBreaches(database, tenants)).toEqual([]);
});

test('a statement that names a destination outside the scope finds and changes nothing', async () => {
  const { deliveryId, destinationId } = await insertTenant();
  const destination = { destinationId, revision: 1 };
  const list = {
    destination,
    states: ['dead'],
    events: undefined,
    orderingKey: undefined,
    createdFrom: undefined,
    before: { at: 'infinity', id: randomUUID() },
    limit: 10,
    maxSearched: 10,
  } as const;
  const foundIn = async (scope: RowScope) => {
    const db = database.requests.within(scope);
    const { rows } = await findOwnDeliveries(db, list);
    const delivery = await runQuery(db, findOwnDeliveryQuery(deliveryId, destination));
    const attempts = await runQuery(db, findAttemptsQuery(deliveryId, 10));
    const answers = await runQuery(db, findAnswersQuery(deliveryId, 10));
    const { pausedUntil } = await findDestinationState(db, destination);
    const replayable = await inTransaction(db, (tx) =>
      lockReplayable(tx, deliveryId, destination, endTimesOfIds([deliveryId])),
    );
    await inTransaction(db, (tx) => storeTestSuccess(tx, destination)).catch((error) => {
      // It finds no row to change, and PostgreSQL refuses the one that it inserts then.
      if (error.code !== '42501') throw error;
    });
    const { rows: states } = await database.sql.query(
      'SELECT last_success_at FROM destination_states WHERE destination_id = $1',
      [destinationId],
    );
    const lastSuccessAt = states[0].last_success_at;
    const found = [rows[0], delivery, attempts[0], answers[0], pausedUntil, replayable];
    return [...found, lastSuccessAt].map((it) => (it ?? null) !== null);
  };
  const { destinationId: foreign } = await insertTenant();
  expect(await foundIn({ destinations: [foreign] })).toEqual(Array(7).fill(false));
  expect(await foundIn({})).toEqual(Array(7).fill(false));
  expect(await foundIn({ destinations: [destinationId] })).toEqual(Array(7).fill(true));
});
