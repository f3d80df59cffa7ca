import { randomUUID } from 'node:crypto';
import { type Query, runQuery } from '@creditlane/postgres/statement';
import { untilWaiting } from '@creditlane/postgres/test-awaited-locks';
import { NIL_UUID } from '@creditlane/runtime/ids';
import { silentLog } from '@creditlane/runtime/test-log';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AttemptResult } from '../sending/attempt.ts';
import { claimProbesQuery } from '../store/breakers.ts';
import {
  claimDueQuery,
  endExpiredHoldsQuery,
  endExpiredLeasesQuery,
  hasLeasesQuery,
  lockReplayedLanesQuery,
  promoteNextQuery,
  releaseLeasesQuery,
  renewLeasesQuery,
} from '../store/deliveries.ts';
import { endSliceQuery } from '../store/pending-ends.ts';
import { keepQueueStatistics } from '../store/queue-statistics.ts';
import { recordResultsQuery } from '../store/results.ts';
import { createTestFixture, type TestFixture } from '../test-fixture.ts';
import { Claimer } from './claimer.ts';
import type { LeasedDelivery } from './delivery.ts';
import { DeliveryQueue } from './delivery-queue.ts';

let fixture: TestFixture;
beforeEach(async () => {
  fixture = await createTestFixture();
  await (await fixture.start()).close();
});
afterEach(() => fixture.close());

interface TestDelivery {
  state?: 'due' | 'waiting';
  /** Whether its hold has expired; its next attempt is then in an hour. */
  isExpired?: boolean;
  replays?: number;
}

/** Inserts a delivery into a lane, and returns its id. */
async function addDelivery(
  lane: string,
  { state = 'due', isExpired = false, replays = 0 }: TestDelivery = {},
): Promise<string> {
  const [id, eventId] = [randomUUID(), randomUUID()];
  await fixture.sql.query(
    `INSERT INTO messages (event_id, event, creditor_id, body, recorded_at)
     VALUES ($1, 'applicationBooked', gen_random_uuid(), '{}', now())`,
    [eventId],
  );
  await fixture.sql.query(
    `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased,
       fence, replays, next_attempt_at, hold_until)
     VALUES ($1, $2, $3, $3, 1, $4, false, 1, $5,
       CASE WHEN $4 = 'due' THEN now() + $6::int * interval '1 hour' END,
       CASE $6::int WHEN 1 THEN now() END)`,
    [id, eventId, lane, state, replays, Number(isExpired)],
  );
  return id;
}

/** Runs \`work\` while another transaction has the delivery locked. */
async function whileLocked(id: string, work: () => Promise<void>): Promise<void> {
  const holder = await fixture.sql.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM deliveries WHERE id = $1 FOR UPDATE', [id]);
    await work();
    await holder.query('ROLLBACK');
  } finally {
    holder.release();
  }
}

const LEASE_MS = 60_000;

function emptyQueue(): DeliveryQueue {
  return new DeliveryQueue({
    leaseMs: LEASE_MS,
    maxInFlight: 10,
    maxInFlightPerDestination: 10,
    onRefused: () => undefined,
  });
}

const laneOf = (id: string) => ({ orderingKey: id, destinationId: id });

it('while a delivery whose hold has expired is locked, the holds of other lanes end', async () => {
  const [lockedLane, otherLane] = [randomUUID(), randomUUID()];
  const locked = await addDelivery(lockedLane, { isExpired: true });
  await addDelivery(otherLane, { isExpired: true });
  const pool = fixture.connect({ options: '-c lock_timeout=1s' });
  const endHolds = () => runQuery(pool, endExpiredHoldsQuery(10));
  await whileLocked(locked, async () => expect(await endHolds()).toEqual([laneOf(otherLane)]));
  expect(await endHolds()).toEqual([laneOf(lockedLane)]);
});

it('while a later delivery of a replayed lane is locked, the hold of the replayed one does not end', async () => {
  const lane = randomUUID();
  await addDelivery(lane, { isExpired: true, replays: 1 });
  const later = await addDelivery(lane);
  const pool = fixture.connect({ options: '-c lock_timeout=1s' });
  const endHolds = () => runQuery(pool, endExpiredHoldsQuery(10));
  await whileLocked(later, async () => expect(await endHolds()).toEqual([]));
  expect(await endHolds()).toEqual([laneOf(lane)]);
});

it('an idle claimer waits two seconds, or until a delivery of this process is due', async () => {
  const queue = emptyQueue();
  const wait = vi.spyOn(queue.backlog.claimable, 'wait');
  const pool = fixture.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
  try {
    await expect.poll(() => wait.mock.lastCall?.[0]).toBe(2_000);
    vi.spyOn(queue.backlog, 'nextDueInMs').mockReturnValue(1_234);
    queue.backlog.expectDue(30_000);
    await expect.poll(() => wait.mock.lastCall?.[0]).toBe(1_234);
  } finally {
    await claimer.close();
  }
});

it('a delivery that became due while a claim was under way is claimed at once', async () => {
  const queue = emptyQueue();
  const wait = vi.spyOn(queue.backlog.claimable, 'wait');
  // The claim has been answered, and its deliveries are being added.
  vi.spyOn(queue, 'add').mockImplementationOnce(() => {
    queue.backlog.expectDue(0);
    const untilMs = performance.now() + 101;
    while (performance.now() < untilMs);
  });
  const pool = fixture.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
  try {
    await expect.poll(() => wait.mock.calls.map(([ms]) => ms)).toEqual([0, 2_000]);
  } finally {
    await claimer.close();
  }
});

it('a claimer begins a transaction only when a hold has expired', async () => {
  const queue = emptyQueue();
  const pool = fixture.connect();
  const texts: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const note = (...args: unknown[]) => {
      texts.push((args[0] as { text?: string }).text ?? '');
      return query(...args);
    };
    Object.assign(client, { query: note });
  });
  const wait = vi.spyOn(queue.backlog.claimable, 'wait');
  const asksForHolds = () => texts.filter((text) => text.includes('hold_until')).length;
  const claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
  try {
    await expect.poll(() => wait.mock.calls.length).toBeGreaterThan(0);
    await expect.poll(asksForHolds).toBeGreaterThan(0);
    expect(texts).not.toContain('BEGIN');
    const lane = randomUUID();
    await addDelivery(lane, { isExpired: true });
    queue.backlog.add([lane]);
    await expect.poll(() => texts, { timeout: 15_000 }).toContain('BEGIN');
  } finally {
    await claimer.close();
  }
});

it('a claimer whose queue was full looks for due deliveries again after a quarter of a second', async () => {
  const queue = emptyQueue();
  const deliveries = Array.from({ length: 60 }, () => {
    const ids = { id: randomUUID(), orderingKey: randomUUID(), destinationId: randomUUID() };
    return { ...ids, replays: 0 } as LeasedDelivery;
  });
  queue.add(deliveries, performance.now());
  const wait = vi.spyOn(queue.backlog.claimable, 'wait');
  const pool = fixture.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
  try {
    await expect.poll(() => wait.mock.lastCall?.[0]).toBe(250);
    queue.drop(deliveries.map(({ destinationId }) => destinationId));
    await expect.poll(() => wait.mock.lastCall?.[0]).toBe(2_000);
  } finally {
    await claimer.close();
  }
});

it('the age of the last claim rises while claims fail, and falls with the first that succeeds', async () => {
  const queue = emptyQueue();
  let failedMs = 0;
  const capacity = vi.spyOn(queue, 'claimCapacity').mockImplementation(() => {
    failedMs = performance.now();
    throw new Error('the database is away');
  });
  const pool = fixture.connect();
  const claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
  const hasClaimedSince = (ms: number) => {
    const sinceMs = performance.now() - ms;
    return claimer.claimAgeMs < sinceMs;
  };
  try {
    await expect.poll(() => failedMs).toBeGreaterThan(0);
    expect(hasClaimedSince(failedMs)).toBe(false);
    capacity.mockRestore();
    queue.backlog.claimable.signal();
    await expect.poll(() => hasClaimedSince(failedMs)).toBe(true);
  } finally {
    await claimer.close();
  }
});

it('the queue remembers the next time at which a delivery is due within a minute', () => {
  const { backlog } = emptyQueue();
  backlog.expectDue(61_000);
  expect(backlog.nextDueInMs(performance.now())).toBe(Infinity);
  backlog.expectDue(40_000);
  backlog.expectDue(30_000);
  const nowMs = performance.now();
  expect(backlog.nextDueInMs(nowMs)).toBeLessThanOrEqual(30_100);
  expect(backlog.nextDueInMs(nowMs + 30_200)).toBe(0);
  backlog.forgetDue(nowMs + 30_200);
  expect(backlog.nextDueInMs(nowMs + 30_200)).toBeLessThanOrEqual(9_900);
  backlog.forgetDue(nowMs + 50_000);
  expect(backlog.nextDueInMs(nowMs + 50_000)).toBe(Infinity);
});

it('when the delivery behind an expired hold is locked, due deliveries of other lanes are claimed', async () => {
  const lane = randomUUID();
  await addDelivery(lane, { isExpired: true });
  const waiting = await addDelivery(lane, { state: 'waiting' });
  await addDelivery(randomUUID());
  const queue = emptyQueue();
  const pool = fixture.connect();
  let claimer: Claimer | undefined;
  await whileLocked(waiting, async () => {
    claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
    await expect.poll(() => queue.size).toBe(1);
  });
  await claimer?.close();
});

it('after holds were ended, a look that was due meanwhile follows', async () => {
  const lane = randomUUID();
  await addDelivery(lane, { isExpired: true });
  const waiting = await addDelivery(lane, { state: 'waiting' });
  const queue = emptyQueue();
  const expectDue = vi.spyOn(queue.backlog, 'expectDue');
  const pool = fixture.connect();
  let claimer: Claimer | undefined;
  await whileLocked(waiting, async () => {
    claimer = new Claimer({ pool, log: silentLog, queue, leaseMs: LEASE_MS });
    await untilWaiting(fixture.sql, 1);
    await addDelivery(randomUUID(), { isExpired: true });
    queue.backlog.expectDue(0);
    await expect.poll(() => queue.backlog.nextDueInMs(performance.now())).toBe(Infinity);
    expect(expectDue).toHaveBeenCalledTimes(1);
  });
  try {
    await expect.poll(() => expectDue.mock.calls).toEqual([[0], [0]]);
    const held = 'SELECT FROM deliveries WHERE holding AND hold_until IS NOT NULL';
    await expect.poll(async () => (await fixture.sql.query(held)).rows.length).toBe(0);
  } finally {
    await claimer?.close();
  }
});

it.each(['an emptied', 'a new'])(
  'plans that were made for %s queue read few blocks of it when it is long',
  async (kind) => {
    const [destinationId, lane] = [randomUUID(), randomUUID()];
    const held = {
      ...{ id: randomUUID(), fence: 1, attempts: 0, replays: 0, orderingKey: lane, destinationId },
      ...{ event: 'applicationBooked', body: '{}', reference: null, sequence: 1 },
      recordedAt: new Date(),
    } satisfies LeasedDelivery;
    const result: AttemptResult = {
      ...{ delivery: held, revision: 1, startedAt: new Date(), durationMs: 5, state: 'delivered' },
      outcome: { kind: 'answered', status: 200 },
    };
    const claim = { after: NIL_UUID, capacities: new Map(), otherCapacity: 5, limit: 5 };
    const queries: Record<string, Query<unknown>> = {
      claim: claimDueQuery({ ...claim, leaseMs: LEASE_MS }),
      renew: renewLeasesQuery([held], LEASE_MS),
      release: releaseLeasesQuery([held]),
      record: recordResultsQuery([result], LEASE_MS),
      promote: promoteNextQuery([held], LEASE_MS),
      endHolds: endExpiredHoldsQuery(5),
      endLeases: endExpiredLeasesQuery(LEASE_MS, 5),
      findLeases: hasLeasesQuery(LEASE_MS),
      lockReplayed: lockReplayedLanesQuery([held]),
      probe: claimProbesQuery(5, { probeMs: LEASE_MS, leaseMs: LEASE_MS }),
      endSlice: endSliceQuery({
        ...{ destinationId, reason: 'destination_removed', state: 'due', limit: 5 },
        after: { createdAt: '-infinity', id: NIL_UUID },
      }),
    };
    const fillQueue = () =>
      fixture.sql.query(
        `INSERT INTO deliveries (id, event_id, destination_id, application_id, sequence, state, leased, fence,
         next_attempt_at)
       SELECT gen_random_uuid(), gen_random_uuid(), $1, gen_random_uuid(), 1,
         CASE WHEN n % 4 = 0 THEN 'waiting' ELSE 'due' END, n % 200 = 1, 1,
         CASE WHEN n % 4 > 0 THEN now() + (n % 4 - 2) * interval '1 hour' END
       FROM generate_series(1, 20000) AS n`,
        [destinationId],
      );
    // One connection, as the service opens its own: its plans are kept.
    const service = fixture.connect({
      max: 1,
      options:
        '-c enable_seqscan=off -c random_page_cost=1.1 -c plan_cache_mode=force_generic_plan',
    });
    // What has left the queue has left its pages there, which autovacuum then finds empty. It runs in no other moment here.
    await fixture.sql.query('ALTER TABLE deliveries_queue SET (autovacuum_enabled = off)');
    if (kind === 'an emptied') await fillQueue();
    await fixture.sql.query('DELETE FROM deliveries');
    await fixture.sql.query('VACUUM ANALYZE deliveries_queue');
    await keepQueueStatistics(service);
    // PostgreSQL plans a statement anew five times before it may keep a plan.
    for (let n = 0; n < 6; n += 1) {
      for (const query of Object.values(queries)) await runQuery(service, query);
    }
    // A burst, before the service looks again whether the queue has grown.
    await fillQueue();
    const blocksRead = async () => {
      await service.query('SELECT pg_stat_force_next_flush()');
      const { rows } = await service.query(
        `SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::int AS blocks
       FROM pg_statio_all_tables WHERE relname = 'deliveries_queue'`,
      );
      return rows[0].blocks as number;
    };
    const expectFewBlocks = async (plans: string) => {
      for (const [name, query] of Object.entries(queries)) {
        const before = await blocksRead();
        await runQuery(service, query);
        const blocks = (await blocksRead()) - before;
        // The queue has some 600 blocks, and its indexes as many; 100 deliveries are leased.
        expect(blocks, `${name}, plans ${plans}`).toBeLessThan(250);
      }
    };
    await expectFewBlocks('kept');
    // PostgreSQL discards plans at any time, as when a connection has missed many changes of catalogs. The next ones are made
    // for as many rows of a page as the statistics of the short queue say, which are far too many.
    await service.query('DISCARD PLANS');
    await expectFewBlocks('made anew');
  },
);
