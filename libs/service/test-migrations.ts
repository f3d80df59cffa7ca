/** For the tests of services: a service's migrations, checked and compared with its entities. */
import { openDatabase } from '@creditlane/postgres/database';
import { createTestDatabase } from '@creditlane/postgres/test-database';
import { Metrics } from '@creditlane/runtime/telemetry/metrics';
import { silentLog } from '@creditlane/runtime/test-log';
import type { ServiceDeclaration } from './define-service.ts';
import { withChecks } from './test-migration-checks.ts';

/** How many migrations of each service were released before migrations had to say which versions can use the database. */
const UNCHECKED: Readonly<Record<string, number>> = {
  applications: 7,
  conversations: 2,
  'credit-file': 4,
  decisions: 4,
  integrations: 7,
  'webhook-dispatcher': 8,
};

/**
 * Runs the migrations of a service on a new database. Resolves to the statements that would make the tables those of the
 * entities, and to the findings of `withChecks`; both are empty for correct migrations.
 */
export async function checkMigrations({
  name,
  database: declared,
}: ServiceDeclaration): Promise<{ missing: string[]; findings: string[] }> {
  const { entities = [], migrations = [] } = declared ?? {};
  const { url, drop } = await createTestDatabase(`${name}_schema`);
  const findings: string[] = [];
  const database = await openDatabase({
    url,
    name,
    poolSize: 2,
    log: silentLog,
    metrics: new Metrics(),
    entities: [...entities],
    migrations: migrations.map((migration, n) =>
      n < (UNCHECKED[name] ?? 0) ? migration : withChecks(migration, findings),
    ),
  });
  try {
    const { upQueries } = await database.dataSource.driver.createSchemaBuilder().log();
    return { missing: upQueries.map(({ query }) => query), findings };
  } finally {
    await database.close();
    await drop();
  }
}
