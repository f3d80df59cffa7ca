/** A new database for one test file, with its tables, opened as a service opens its own. */
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { type Database, openDatabase } from './database.ts';
import type { Migration } from './migrations/migration.ts';
import { sqlMigration } from './migrations/sql-migration.ts';
import { createTestDatabase } from './test-database.ts';

export interface OpenTestDatabase extends Database {
  url: string;
  metrics: Metrics;
}

/**
 * Makes a database, runs the SQL statements that create its tables, then the migrations, and opens it; `close` drops it.
 * `name` tells people whose database it is, and need not be unique.
 */
export async function openTestDatabase(
  name: string,
  createTablesSql: readonly string[],
  migrations: readonly Migration[] = [],
): Promise<OpenTestDatabase> {
  const { url, drop } = await createTestDatabase(name);
  const metrics = new Metrics();
  const database = await openDatabase({
    url,
    name,
    poolSize: 8,
    log: silentLog,
    metrics,
    entities: [],
    migrations: [sqlMigration('TestTables1763000000000', { up: createTablesSql }), ...migrations],
  });
  return {
    ...database,
    url,
    metrics,
    async close() {
      await database.close();
      await drop();
    },
  };
}
