import { openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { expect, test } from 'vitest';
import { decisions } from './service.ts';

test('the migrations create the tables that the entities describe, and can be reverted', async () => {
  const { url, drop } = await createTestDatabase('decisions_schema');
  const database = await openDatabase({
    url,
    poolSize: 2,
    log: createLog('decisions', { level: 'silent' }),
    metrics: new Metrics(),
    name: 'decisions',
    entities: [...decisions.database.entities],
    migrations: [...decisions.database.migrations],
  });
  try {
    const { dataSource } = database;
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);

    const runner = dataSource.createQueryRunner();
    for (const Migration of decisions.database.migrations.toReversed()) {
      await new Migration().down(runner);
    }
    const left = await runner.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    await runner.release();
    expect(left).toEqual([{ tablename: 'migrations' }]);
  } finally {
    await database.close();
    await drop();
  }
});
