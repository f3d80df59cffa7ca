import { createReconciliationSql } from '@creditlane/messaging/reconciliation/differences';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Adds the tables of the reconciler, which compares the events of applications with those that were handled here. */
export const reconciliation1764700000001 = sqlMigration('Reconciliation1764700000001', {
  up: createReconciliationSql,
  compatibility: 'only adds',
});
