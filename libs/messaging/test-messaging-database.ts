import { migrate } from '@creditlane/postgres/migrate';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import {
  describeTables,
  type OpenTestDatabase,
  openTestDatabase,
  openTestDatabaseOf,
} from '@creditlane/postgres/test-open-database';
import { silentLog } from '@creditlane/runtime/test-log';
import { createDeadLettersSql } from './dead-letters/dead-letters.ts';
import { createRedrivesSql } from './dead-letters/redrives.ts';
import { inboxByDayMigrations } from './inbox-by-day.ts';
import { createOutboxSql } from './outbox.ts';
import { outboxByDayMigrations } from './outbox-by-day.ts';
import { createReconciliationSql } from './reconciliation/differences.ts';
import { createInboxSql } from './transactional-inbox.ts';

/** The tables as the first versions made them. */
const TABLES = [
  ...createOutboxSql,
  ...createInboxSql,
  ...createDeadLettersSql,
  ...createRedrivesSql,
  ...createReconciliationSql,
];

/** As `openTestDatabase` names it. */
const EARLIER = sqlMigration('TestTables1763000000000', { up: [] });

/** The migrations that followed, for every table of this package. */
const MIGRATIONS = [...inboxByDayMigrations(EARLIER), ...outboxByDayMigrations(EARLIER)];

const MIGRATED = describeTables(TABLES, MIGRATIONS);

/** A new database with every table of this package, opened as a service opens its own. */
export function openMessagingTestDatabase(name: string): Promise<OpenTestDatabase> {
  return openTestDatabaseOf(name, MIGRATED);
}

/** The same as the first versions left it. */
export function openEarlierMessagingDatabase(name: string): Promise<OpenTestDatabase> {
  return openTestDatabase(name, TABLES);
}

/** Migrates an earlier database, as the first replica of this version does. */
export function migrateMessaging({ url }: OpenTestDatabase): Promise<void> {
  return migrate(url, [EARLIER, ...MIGRATIONS], silentLog);
}
