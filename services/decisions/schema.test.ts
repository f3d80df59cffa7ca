import { openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { createLog } from '@creditlane/runtime/telemetry/log';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { expect, test } from 'vitest';
import { submissionsAndDecisions1763700000000 } from './migrations/0001-submissions-and-decisions.ts';
import { decisionCalls1763900000000 } from './migrations/0002-decision-calls.ts';
import { decisions, submissions } from './tables.ts';

test('the migrations create the tables that the entities describe, and can be reverted', async () => {
  const { url, drop } = await createTestDatabase('decisions_schema');
  const database = await openDatabase({
    url,
    name: 'decisions',
    poolSize: 2,
    log: createLog('decisions', { level: 'silent' }),
    metrics: new Metrics(),
    entities: [submissions, decisions],
    migrations: [submissionsAndDecisions1763700000000, decisionCalls1763900000000],
  });
  try {
    const { dataSource } = database;
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);

    const runner = dataSource.createQueryRunner();
    await new decisionCalls1763900000000().down(runner);
    await new submissionsAndDecisions1763700000000().down(runner);
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
