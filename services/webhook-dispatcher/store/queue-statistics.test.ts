import { once } from 'node:events';
import { silentLog } from '@creditlane/runtime/test-log';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createTestFixture } from '../test-fixture.ts';
import { startQueueStatistics } from './queue-statistics.ts';

it('statistics that a VACUUM has made short are set at the start, and at once while the queue has deliveries', async () => {
  const fixture = await createTestFixture();
  onTestFinished(() => fixture.close());
  // It creates the tables.
  await (await fixture.start()).close();
  const vacuum = () => fixture.sql.query('VACUUM deliveries_queue');
  const plannedRows = async (): Promise<number> => {
    const { rows } = await fixture.sql.query(
      `SELECT reltuples FROM pg_class WHERE oid = 'deliveries_queue'::regclass`,
    );
    return rows[0].reltuples;
  };
  await fixture.sql.query('ALTER TABLE deliveries_queue SET (autovacuum_enabled = off)');
  await vacuum();
  expect(await plannedRows()).toBeLessThan(100);

  const filled = Promise.withResolvers<void>();
  const waitWhileEmpty = vi.fn((stop: AbortSignal) =>
    Promise.race([filled.promise, once(stop, 'abort').then(() => undefined)]),
  );
  const statistics = startQueueStatistics(fixture.sql, silentLog, { size: 1, waitWhileEmpty });
  onTestFinished(() => statistics.close());
  await expect.poll(() => waitWhileEmpty.mock.calls.length).toBe(1);
  expect(await plannedRows()).toBe(20_000);
  await vacuum();
  // Nothing looks while the queue is empty.
  expect(await plannedRows()).toBeLessThan(100);
  filled.resolve();
  // Sooner than in the five seconds that pass between looks while deliveries come now and then.
  const soon = { timeout: 4_000 };
  await expect.poll(plannedRows, soon).toBe(20_000);
  await vacuum();
  await expect.poll(plannedRows, soon).toBe(20_000);
});
