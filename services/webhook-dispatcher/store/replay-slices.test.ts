import { expect, test } from 'vitest';
import { shareTestFixture } from '../replay-jobs/test-shared-fixture.ts';
import { addEndedDeliveries } from '../test-deliveries.ts';
import { countPending } from './replay-slices.ts';

const LEASE_MS = 1_000;
const shared = shareTestFixture();

test('a delivery that is leased after a slice has begun counts as pending', async () => {
  const { fixture } = shared;
  const receiver = await fixture.addReceiver();
  await addEndedDeliveries(fixture, { ...receiver, count: 1 });
  const slice = await fixture.sql.connect();
  try {
    await slice.query('BEGIN');
    await fixture.sql.query(
      `UPDATE deliveries SET state = 'due', storage = 'queue', leased = true, settled_at = NULL,
         next_attempt_at = now() + ${LEASE_MS} * interval '1 ms'`,
    );
    const limits = { maxDue: 2, maxWaiting: 1, leaseMs: LEASE_MS };
    expect(await countPending(slice, receiver.destinationId, limits)).toMatchObject({ due: 1 });
  } finally {
    await slice.query('ROLLBACK');
    slice.release();
  }
});
