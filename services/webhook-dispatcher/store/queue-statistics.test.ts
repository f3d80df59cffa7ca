import { silentLog } from '@creditlane/runtime/test-log';
import { expect, it, onTestFinished } from 'vitest';
import { createTestFixture } from '../test-fixture.ts';
import { startQueueStatistics } from './queue-statistics.ts';

it('while deliveries are sent, statistics that a VACUUM has made short are set at once', async () => {
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

  const statistics = startQueueStatistics(fixture.sql, silentLog, { size: 1 });
  onTestFinished(() => statistics.close());
  await expect.poll(plannedRows).toBe(20_000);
  await vacuum();
  // An idle process looks every five seconds.
  await expect.poll(plannedRows, { timeout: 4_000 }).toBe(20_000);
});
