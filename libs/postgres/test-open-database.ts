/** A new database for one test file, with its tables, opened as a service opens its own. */
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrations/migrate.ts';
import type { Migration } from './migrations/migration.ts';
import { sqlMigration } from './migrations/sql-migration.ts';
import { createTestDatabase, type MakeTables, type TestDatabase } from './test-database.ts';

export interface OpenTestDatabase extends Database {
  url: string;
  metrics: Metrics;
}

/** The tables of databases that are copies of one another. */
export interface TestTables {
  migrations: Migration[];
  make: MakeTables;
}

/** Describes the tables that the SQL statements create and the migrations then change, for `openTestDatabaseOf`. */
export function describeTables(
  createTablesSql: readonly string[],
  migrations: readonly Migration[] = [],
): TestTables {
  const all = [sqlMigration('TestTables1763000000000', { up: createTablesSql }), ...migrations];
  return { migrations: all, make: (url) => migrate(url, all, silentLog) };
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
  const tables = describeTables(createTablesSql, migrations);
  return open(name, tables.migrations, await createTestDatabase(name));
}

/** The same as a copy of a database that was made once: for files that make many. */
export async function openTestDatabaseOf(
  name: string,
  { migrations, make }: TestTables,
): Promise<OpenTestDatabase> {
  return open(name, migrations, await createTestDatabase(name, make));
}

async function open(
  name: string,
  migrations: Migration[],
  { url, drop }: TestDatabase,
): Promise<OpenTestDatabase> {
  const metrics = new Metrics();
  const database = await openDatabase({
    url,
    name,
    poolSize: 8,
    log: silentLog,
    metrics,
    entities: [],
    migrations,
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
