import { sqlMigration, validateConstraintMigration } from '@creditlane/postgres/sql-migration';
import { reconciliation1764700000001 } from './0010-reconciliation.ts';

/** The last version whose replicas may run beside this one: it knows no other table than `deliveries`. */
export const sinceReconciliation = { since: reconciliation1764700000001 };

/**
 * Two migrations that mark the rows that a table holds: it becomes a partition of a table with the same name. The
 * constraint is added without reading the table, and holds for new rows at once; then the table is read.
 */
export const markEarlier = (table: string, names: { marked: string; validated: string }) => [
  sqlMigration(names.marked, {
    up: [
      `ALTER TABLE ${table} ADD COLUMN storage text NOT NULL DEFAULT 'earlier',
         ADD CONSTRAINT ${table}_storage CHECK (storage = 'earlier') NOT VALID`,
    ],
    compatibility: sinceReconciliation,
  }),
  validateConstraintMigration(names.validated, [table, `${table}_storage`], sinceReconciliation),
];

export const deliveryStorage = markEarlier('deliveries', {
  marked: 'DeliveryStorage1765300000000',
  validated: 'ValidDeliveryStorage1765300000001',
});
