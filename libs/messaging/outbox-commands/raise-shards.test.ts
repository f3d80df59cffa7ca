// The number of shards is raised while relays publish, and publishing is held while partitions are raised.
import type { Migration } from '@creditlane/postgres/migrate';
import { isFloorRaised } from '@creditlane/postgres/raise-floor';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import type { Queryable } from '@creditlane/postgres/statement';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { inTransaction } from '@creditlane/postgres/transaction';
import { silentLog } from '@creditlane/runtime/test-log';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { allowAppendingSql, appendToOutbox } from '../outbox.ts';
import type { Relay } from '../relay/relay.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent,
  type RecordingBus,
  recordingBus,
  sequencesOf,
  startTestRelay,
  type TestRelayOptions,
} from '../test-relay.ts';
import { outboxCommands } from './commands.ts';
import { HoldLostError, holdPublishing } from './hold-publishing.ts';
import { raiseShards } from './raise-shards.ts';
import { republishOutbox } from './republish-outbox.ts';

const KEYS = Array.from({ length: 12 }, (_, index) => `key \\ ${index}`);

/** A migration of the test database that only adds. */
const FLOOR = [sqlMigration('TestTables1763000000000', { up: [] })];

let db: OpenTestDatabase;
let bus: RecordingBus;
let relays: Relay[];

beforeEach(async () => {
  db = await openMessagingTestDatabase('shards');
  onTestFinished(() => db.close());
  bus = recordingBus();
  relays = [];
});

function startOne(options?: TestRelayOptions): Relay {
  const relay = startTestRelay(db, bus, options);
  relays.push(relay);
  return relay;
}

/** Writes the next event of every key. */
async function append(sequence: number, tx: Queryable = db.pool): Promise<void> {
  await appendToOutbox(
    tx,
    KEYS.map((key) => decisionEvent(key, sequence)),
  );
  for (const relay of relays) relay.wake();
}

/** Repeated events count once, as the inbox drops them. */
function expectAllInOrder(upTo: number): void {
  const inOrder = Array.from({ length: upTo }, (_, index) => index + 1);
  for (const key of KEYS) {
    expect([...new Set(sequencesOf(bus.published, key))]).toEqual(inOrder);
  }
}

/** How many shards the waiting events of one key are in, at most. */
async function shardsOfAKey(): Promise<number> {
  const { rows } = await db.pool.query<{ most: number }>(
    `SELECT max(shards)::int AS most FROM (SELECT count(DISTINCT shard) AS shards FROM outbox
       WHERE published_at IS NULL GROUP BY key) AS keys`,
  );
  return rows[0]?.most ?? 0;
}

async function shardsHeld(): Promise<number> {
  const { rows } = await db.pool.query<{ held: number }>(
    'SELECT count(*)::int AS held FROM outbox_lease WHERE holder IS NOT NULL',
  );
  return rows[0]?.held ?? 0;
}

const raiseTo = (to: string) =>
  outboxCommands(FLOOR)['raise-shards']?.run(
    { settings: {}, database: db, log: silentLog, print: () => undefined },
    { to },
  );

test('while shards are raised, relays publish the events of each key in order', async () => {
  // They learn of the shards with their next renewals.
  const first = startOne({ leaseMs: 1_000 });
  startOne({ leaseMs: 1_000 });
  let sequence = 0;
  let isRaised = false;
  const writing = (async () => {
    for (let after = 0; after < 20; after += Number(isRaised)) await append(++sequence);
  })();
  await expect.poll(() => sequence).toBeGreaterThan(10);
  await raiseTo('9');
  isRaised = true;
  await writing;
  await expect.poll(shardsHeld).toBe(9);
  await first.settled();
  expectAllInOrder(sequence);
  // The relay that holds few shards learns of the others with its next renewal.
  await expect.poll(() => db.metrics.text()).toMatch(/outbox_shards\{source="decisions"\} 9/);
  await expect(raiseTo('9')).rejects.toThrow('the outbox has 9 shards already');
});

test('events of a key that wait, are written or are published again are in one shard after a raise', async () => {
  await append(1);
  const relay = startOne();
  await relay.settled();
  await relay.close();
  await append(2);
  await raiseShards(db.pool, 16, FLOOR);
  await db.pool.query(allowAppendingSql);
  // As requests write them, which may add events and read none.
  await inTransaction(db.pool, async (tx) => {
    await tx.query(`SELECT set_config('role', current_database() || '_requests', true)`);
    await append(3, tx);
  });
  await republishOutbox(db.pool, new Date(0));
  expect(await shardsOfAKey()).toBe(1);
  await startOne().settled();
  expectAllInOrder(3);
});

test('a raise excludes versions that know four shards only, one that is refused does not', async () => {
  const [floor] = FLOOR as [Migration];
  await db.pool.query(`UPDATE migrations SET floor = 'any'`);
  await expect(raiseShards(db.pool, 4, FLOOR)).rejects.toThrow('has 4 shards already');
  expect(await isFloorRaised(db.pool, floor)).toBe(false);
  await raiseShards(db.pool, 5, FLOOR);
  expect(await isFloorRaised(db.pool, floor)).toBe(true);
});

test('a raise waits for a transaction that has written an event, and lets others write meanwhile', async () => {
  const raising = await inTransaction(db.pool, async (tx) => {
    await tx.query(
      `INSERT INTO outbox (shard, topic, key, type, payload) VALUES (0, 't', 'k', 't', '{}')`,
    );
    const raise = raiseShards(db.pool, 8, FLOOR);
    await append(1);
    return { raise };
  });
  await raising.raise;
  expect(await shardsOfAKey()).toBe(1);
});

test('while publishing is held, no relay marks events; afterwards they are published', async () => {
  const relay = startOne();
  await append(1);
  await relay.settled();
  const held = Promise.withResolvers<number>();
  const onHeld = () => held.resolve(performance.now());
  // No longer than between two renewals: on a slow machine, a relay may take over before a second one.
  const holdMs = 400;
  const hold = holdPublishing(db.pool, { settleMs: 1, holdMs, onHeld });
  const heldAtMs = await held.promise;
  await append(2);
  await markedOf(2);
  expect(performance.now() - heldAtMs).toBeGreaterThanOrEqual(holdMs);
  await hold;
  await relay.settled();
  expectAllInOrder(2);
});

test('a hold whose leases a relay has taken over ends with an error', async () => {
  const held = Promise.withResolvers<void>();
  const hold = holdPublishing(db.pool, { settleMs: 1, holdMs: 60_000, onHeld: held.resolve });
  await held.promise;
  await db.pool.query('UPDATE outbox_lease SET holder = gen_random_uuid()');
  await expect(hold).rejects.toThrow(HoldLostError);
});

/** Resolves once an event with the sequence is marked. */
async function markedOf(sequence: number): Promise<void> {
  await vi.waitUntil(
    async () => {
      const { rows } = await db.pool.query(
        `SELECT FROM outbox WHERE published_at IS NOT NULL AND payload ->> 'sequence' = $1 LIMIT 1`,
        [String(sequence)],
      );
      return rows.length > 0;
    },
    { timeout: 15_000 },
  );
}
