import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { QueueEntry } from './destination-queue.ts';
import { LeaseRenewal } from './leases.ts';

it('close waits for a slow renewal, though later renewals have ended', async () => {
  const { sql, drop } = await createTestDatabase('leases');
  onTestFinished(drop);
  await sql.query(
    `CREATE TABLE deliveries (id uuid, fence int, state text, leased boolean, application_id uuid,
       destination_id uuid, position int, next_attempt_at timestamptz)`,
  );
  const id = randomUUID();
  await sql.query(`INSERT INTO deliveries VALUES ($1, 1, 'due', true)`, [id]);
  const lock = await sql.connect();
  onTestFinished(() => lock.release());
  await lock.query('BEGIN');
  await lock.query('SELECT FROM deliveries FOR UPDATE');

  const entry = { delivery: { id, fence: 1 }, leasedUntilMs: 0 } as QueueEntry;
  const expiringBefore = vi.fn<DeliveryQueue['expiringBefore']>(() => []);
  expiringBefore.mockReturnValueOnce([entry]);
  const queue = { expiringBefore } as unknown as DeliveryQueue;
  const renewal = new LeaseRenewal({ pool: sql, log: silentLog, queue, leaseMs: 100 });
  await vi.waitFor(() => expect(expiringBefore.mock.calls.length).toBeGreaterThan(2));

  const closing = renewal.close().then(() => 'closed');
  expect(await Promise.race([closing, sleep(50, 'waiting')])).toBe('waiting');
  await lock.query('COMMIT');
  await closing;
  expect(entry.leasedUntilMs).toBeGreaterThan(0);
});
