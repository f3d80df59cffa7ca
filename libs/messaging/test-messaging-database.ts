import { type OpenTestDatabase, openTestDatabase } from '@creditlane/postgres/test-open-database';
import { createDeadLettersSql } from './dead-letters/dead-letters.ts';
import { createRedrivesSql } from './dead-letters/redrives.ts';
import { createOutboxSql } from './outbox.ts';
import { addExpectedEffectsSql, createReconciliationSql } from './reconciliation/differences.ts';
import { createInboxSql } from './transactional-inbox.ts';

/** A new database with every table of this package, opened as a service opens its own. */
export function openMessagingTestDatabase(name: string): Promise<OpenTestDatabase> {
  return openTestDatabase(name, [
    ...createOutboxSql,
    ...createInboxSql,
    ...createDeadLettersSql,
    ...createRedrivesSql,
    ...createReconciliationSql,
    addExpectedEffectsSql,
  ]);
}
