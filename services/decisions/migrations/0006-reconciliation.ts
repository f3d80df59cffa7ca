import {
  addExpectedEffectsSql,
  createReconciliationSql,
  dropExpectedEffectsSql,
  dropReconciliationSql,
} from '@creditlane/messaging/reconciliation/differences';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** How far what applications has written is compared with what is handled here, and what is missing. */
export const reconciliation1764700000001 = sqlMigration(
  'Reconciliation1764700000001',
  [...createReconciliationSql, addExpectedEffectsSql],
  [dropExpectedEffectsSql, ...dropReconciliationSql],
  'only adds',
);
