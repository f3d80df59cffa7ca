/** For tests: a database with the dispatcher's tables, and deliveries as they are inserted into it. */
import { randomUUID } from 'node:crypto';
import { migrate } from '@creditlane/postgres/migrate';
import { createTestDatabase, type TestDatabase } from '@creditlane/postgres/test-database';
import { silentLog } from '@creditlane/runtime/test-log';
import type pg from 'pg';
import type { DeliveryStateName } from './delivery-states.ts';
import type { LeasedDelivery } from './queue/delivery.ts';
import type { AttemptResult } from './sending/attempt.ts';
import { webhookDispatcher } from './service.ts';

/** Creates a database with the tables as they are now; no dispatcher runs. */
export function openDispatcherDatabase(): Promise<TestDatabase> {
  return createTestDatabase('webhooks', migrateDispatcher);
}

/** Makes the tables as they are now in the database with this URL. */
export const migrateDispatcher = (url: string): Promise<void> =>
  migrate(url, [...(webhookDispatcher.database?.migrations ?? [])], silentLog);

/** A replay, and an attempt long after the intake, asks for the grant on what the body names. */
const NAMED = { retailerId: randomUUID(), creditorId: randomUUID() };

/** A delivery in a lane of its own, under its first lease. */
export function leasedDelivery(delivery: Partial<LeasedDelivery> = {}): LeasedDelivery {
  return {
    ...{ id: randomUUID(), fence: 1, attempts: 0, replays: 0 },
    ...{ orderingKey: randomUUID(), destinationId: randomUUID(), sequence: 1 },
    ...{ event: 'applicationBooked', body: JSON.stringify(NAMED), reference: null },
    ...{ recordedAt: new Date(), ageMs: 0, traceparent: null },
    ...delivery,
  };
}

/** The result of an attempt that the receiver answered. A failed delivery is due again in a minute. */
export function resultOf(delivery: LeasedDelivery, status: number): AttemptResult {
  return {
    kind: 'tried',
    ...{ delivery, revision: 1, startedAt: new Date(), durationMs: 5 },
    outcome: { kind: 'answered', status },
    ...(status === 200 ? { state: 'delivered' } : { state: 'due', delayMs: 60_000 }),
  };
}

/** How a delivery is stored: due now in a lane of its own, and not leased, unless the fields say otherwise. */
export interface TestDelivery extends Partial<Omit<LeasedDelivery, 'reference' | 'traceparent'>> {
  eventId?: string;
  numberingKey?: string;
  state?: DeliveryStateName;
  leased?: boolean;
  nextAttemptAt?: Date | null;
  holdUntil?: Date;
  createdAt?: Date;
  /** Stored as ended when set. */
  settledAt?: Date | null;
}

const DELIVERY_COLUMNS = `id, event_id, destination_id, application_id, sequence, state, reason, leased, fence,
  attempts, replays, next_attempt_at, hold_until, created_at, settled_at, storage`;
const MESSAGE_COLUMNS = 'event_id, event, creditor_id, body, recorded_at';

/** Inserts deliveries with their messages, in this order. Deliveries of one event share its message. */
export async function insertDeliveries(
  db: pg.Pool | pg.ClientBase,
  deliveries: readonly TestDelivery[],
): Promise<LeasedDelivery[]> {
  const made = deliveries.map((delivery) => ({ ...delivery, ...leasedDelivery(delivery) }));
  await db.query(
    `WITH message AS (
       INSERT INTO messages (${MESSAGE_COLUMNS})
       SELECT ${MESSAGE_COLUMNS} FROM jsonb_populate_recordset(NULL::messages, $1)
       ON CONFLICT DO NOTHING
     )
     INSERT INTO deliveries (${DELIVERY_COLUMNS})
     SELECT ${DELIVERY_COLUMNS} FROM jsonb_populate_recordset(NULL::deliveries, $1)`,
    [JSON.stringify(made.map(toRow))],
  );
  return made;
}

/** Inserts a delivery with its message. */
export async function insertDelivery(
  db: pg.Pool | pg.ClientBase,
  delivery: TestDelivery = {},
): Promise<LeasedDelivery> {
  const [inserted] = await insertDeliveries(db, [delivery]);
  return inserted as LeasedDelivery;
}

/** The state of each delivery, in the order of their insertion; with the reason, such as "dead: gone", where there is one. */
export async function readStates({ sql }: { sql: pg.Pool }): Promise<string[]> {
  const { rows } = await sql.query('SELECT state, reason FROM deliveries ORDER BY position');
  return rows.map(({ state, reason }) => (reason === null ? state : `${state}: ${reason}`));
}

/** The columns of the delivery and those of its message. */
function toRow(delivery: TestDelivery & LeasedDelivery) {
  const { id, sequence, fence, attempts, replays, event, body, recordedAt } = delivery;
  const { state = 'due', leased = false, settledAt = null, createdAt = new Date() } = delivery;
  const { nextAttemptAt = state === 'due' ? new Date() : null } = delivery;
  return {
    ...{ id, sequence, fence, attempts, replays, event, body, state, leased },
    event_id: delivery.eventId ?? randomUUID(),
    destination_id: delivery.destinationId,
    application_id: delivery.orderingKey,
    creditor_id: delivery.numberingKey ?? randomUUID(),
    recorded_at: recordedAt,
    reason: state === 'dead' ? 'attempts_exhausted' : null,
    next_attempt_at: nextAttemptAt,
    hold_until: delivery.holdUntil,
    created_at: createdAt,
    settled_at: settledAt,
    storage: settledAt === null ? 'queue' : 'ended',
  };
}

const DAY_MS = 86_400_000;

export interface TestEndedDeliveries {
  destinationId: string;
  count: number;
  /** The deliveries belong to so many applications in turns; each has its own lane. */
  applications?: number;
  state?: 'dead' | 'delivered';
  event?: string;
  /** Of the first; each further one was created a second later. */
  createdAt?: Date;
}

/** Inserts deliveries as they are after their end, and returns the ids of their applications. */
export async function addEndedDeliveries(
  { sql, creditorId }: { sql: pg.Pool; creditorId: string },
  { destinationId, count, applications = count, ...options }: TestEndedDeliveries,
): Promise<string[]> {
  const { state = 'dead', event = 'applicationBooked' } = options;
  const { createdAt = new Date(Date.now() - DAY_MS) } = options;
  const applicationIds = Array.from({ length: applications }, () => randomUUID());
  const deliveries = Array.from({ length: count }, (_, n): TestDelivery => {
    const orderingKey = applicationIds[n % applications] as string;
    const endedAt = new Date(createdAt.getTime() + (n + 1) * 1_000);
    return {
      ...{ destinationId, orderingKey, numberingKey: creditorId, state, event, attempts: 1 },
      sequence: Math.floor(n / applications) + 1,
      body: JSON.stringify({ ...NAMED, applicationId: orderingKey }),
      ...{ recordedAt: endedAt, createdAt: endedAt, settledAt: endedAt },
    };
  });
  await insertDeliveries(sql, deliveries);
  return applicationIds;
}
