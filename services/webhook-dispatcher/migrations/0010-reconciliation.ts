import {
  addExpectedEffectsSql,
  createReconciliationSql,
  dropExpectedEffectsSql,
  dropReconciliationSql,
} from '@creditlane/messaging/reconciliation/differences';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** How far what other services have written is compared with the deliveries here, and what is missing. */
export const reconciliation1764700000001 = sqlMigration(
  'Reconciliation1764700000001',
  [...createReconciliationSql, addExpectedEffectsSql],
  [dropExpectedEffectsSql, ...dropReconciliationSql],
  'only adds',
);
