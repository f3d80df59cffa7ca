import { openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import type { OpenTestDatabase } from '@creditlane/postgres/test-open-database';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { startTcpProxy } from '@creditlane/runtime/test-tcp-proxy';
import pg from 'pg';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { appendToOutbox } from '../outbox.ts';
import { republishOutbox } from '../outbox-commands/republish-outbox.ts';
import { openMessagingTestDatabase } from '../test-messaging-database.ts';
import {
  decisionEvent,
  holdLeaseClock,
  type RecordingBus,
  recordingBus,
  shardsByHolder,
  startTestRelay,
} from '../test-relay.ts';
import { RelayNotifications } from './relay-notifications.ts';

let db: OpenTestDatabase;
/** Receives what the relays notify each other of. */
let listener: pg.Client;
let received: number;
let bus: RecordingBus;

beforeEach(async () => {
  db = await openMessagingTestDatabase('outbox_call');
  onTestFinished(() => db.close());
  listener = new pg.Client({ connectionString: db.url });
  onTestFinished(() => listener.end());
  received = 0;
  bus = recordingBus();
  listener.on('notification', () => {
    received += 1;
  });
  await listener.connect();
  await listener.query('LISTEN outbox');
});

/** A relay of one replica, which does not poll. */
const relay = (options?: { leaseMs: number }) =>
  startTestRelay(db, bus, { pollMs: 3_600_000, ...options });
const append = (key: string) => appendToOutbox(db.pool, [decisionEvent(key)]);

/** Resolves once the relays hold all shards. */
const allShardsHeld = () =>
  vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      "SELECT FROM outbox_lease WHERE expires_at > now() + interval '1 second'",
    );
    expect(rows).toHaveLength(4);
  }, 15_000);

/** The last query of a connection that listens: LISTEN itself, or a notification that it has sent since. */
const LISTENS = '^(LISTEN outbox$|NOTIFY outbox$|SELECT pg_notify)';

/** Resolves once this many relays listen, besides the test itself. */
const listening = (relays: number) =>
  vi.waitFor(async () => {
    const { rows } = await db.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ~ '${LISTENS}'`,
    );
    expect(rows).toHaveLength(relays + 1);
  }, 15_000);

/** A round trip: notifications that were sent before it have been received after it. */
const receiveAll = () => listener.query('SELECT');

test('without polls, relays share the shards, and publish what another replica writes', async () => {
  const leader = relay({ leaseMs: 1_000 });
  await allShardsHeld();
  const follower = relay({ leaseMs: 1_000 });
  await listening(2);
  // A shard that is being handed over has no relay.
  await expect.poll(() => shardsByHolder(db.pool), { timeout: 30_000 }).toEqual([2, 2]);
  await leader.settled();
  for (let n = 1; n <= 5; n += 1) {
    await append(`key-${n}`);
    follower.wake();
    await vi.waitUntil(() => bus.published.some(({ key }) => key === `key-${n}`), {
      timeout: 30_000,
    });
  }
}, 90_000);

test('a relay that holds all shards sends no notification', async () => {
  holdLeaseClock();
  const alone = relay();
  await allShardsHeld();
  // Before it knows its leases, a relay notifies the others.
  await vi.waitFor(async () => {
    expect(await db.metrics.text()).toContain('outbox_shards_held{source="decisions"} 4');
  }, 15_000);
  for (let n = 1; n <= 50; n += 1) {
    await append(`key-${n}`);
    alone.wake();
  }
  await alone.settled();
  await receiveAll();
  expect(bus.published).toHaveLength(50);
  expect(received).toBe(0);
});

test('republishing notifies the relays, which look at once', async () => {
  await republishOutbox(db.pool, new Date());
  await receiveAll();
  expect(received).toBe(1);
});

test('many writes at once become few notifications', async () => {
  // If the lease of the first relay expired, the follower would take all shards and notify nobody.
  holdLeaseClock();
  relay();
  await allShardsHeld();
  const follower = relay();
  await listening(2);
  for (let n = 1; n <= 1_000; n += 1) follower.wake();
  await vi.waitUntil(() => received > 0, 15_000);
  await receiveAll();
  expect(received).toBeLessThanOrEqual(2);
});

test('a replica that lost its connection notifies again after a reconnect', async () => {
  relay();
  await allShardsHeld();
  const follower = relay();
  await listening(2);
  await listener.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND query ~ '${LISTENS}' AND pid <> pg_backend_pid()`,
  );
  await vi.waitFor(async () => {
    follower.wake();
    await receiveAll();
    expect(received).toBeGreaterThan(0);
  }, 15_000);
});

test('a connection that does not answer a notification in time is replaced', async () => {
  const url = new URL(db.url);
  const proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  let connections = 0;
  class CountingClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super(config);
      connections += 1;
    }
  }
  const options = { connectionString: url.href, query_timeout: 1_000 };
  const pool = new pg.Pool({ ...options, Client: CountingClient as unknown as typeof pg.Client });
  const onNotification = vi.fn();
  const notifications = new RelayNotifications(pool, silentLog, onNotification);
  onTestFinished(() => notifications.close());
  await expect.poll(() => onNotification.mock.calls.length).toBeGreaterThan(0);
  proxy.pause();
  const before = connections;
  notifications.notify();
  await expect.poll(() => connections).toBeGreaterThan(before);
  proxy.resume();
  await vi.waitFor(async () => {
    notifications.notify();
    await receiveAll();
    expect(received).toBeGreaterThan(0);
  }, 15_000);
});

test('the connection for notifications is made with the URL of the moment, as those of the pool', async () => {
  const { url, sql, drop } = await createTestDatabase('outbox_url');
  onTestFinished(drop);
  const current = new URL(url);
  const options = { name: 'outbox_url', log: silentLog, metrics: new Metrics(), poolSize: 2 };
  const about = { url: () => current.href, entities: [], migrations: [] };
  const database = await openDatabase({ ...options, ...about });
  onTestFinished(() => database.close());
  current.searchParams.set('application_name', 'renewed');
  const notifications = new RelayNotifications(database.reserved, silentLog, () => undefined);
  onTestFinished(() => notifications.close());
  const findNames = async () => {
    const { rows } = await sql.query(
      `SELECT application_name AS name FROM pg_stat_activity
       WHERE datname = current_database() AND query = 'LISTEN outbox'`,
    );
    return rows;
  };
  await expect.poll(findNames).toEqual([{ name: 'renewed' }]);
});

test('a relay that closes is counted by the others no more, before the time of its announcement is over', async () => {
  const open = () => new RelayNotifications(db.reserved, silentLog, () => undefined);
  const [first, second] = [open(), open()];
  onTestFinished(() => first.close());
  await vi.waitFor(() => {
    second.announce();
    expect(first.count(60_000)).toBe(1);
  }, 15_000);
  await second.close();
  await expect.poll(() => first.count(60_000)).toBe(0);
});
