import type { Migration } from '@creditlane/postgres/migrate';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import type { QueryRunner } from 'typeorm';
import { reconciliation1764700000001 } from './0010-reconciliation.ts';

/** The last version whose replicas may run beside this one: it knows no other table than `deliveries`. */
export const sinceReconciliation = { since: reconciliation1764700000001 };

/**
 * Marks the deliveries that the database holds: their table becomes a partition of a table with the same name. The
 * constraint is added without reading the table, and holds for new rows at once.
 */
export const deliveryStorage1765300000000 = sqlMigration(
  'DeliveryStorage1765300000000',
  [
    `ALTER TABLE deliveries ADD COLUMN storage text NOT NULL DEFAULT 'earlier',
       ADD CONSTRAINT deliveries_storage CHECK (storage = 'earlier') NOT VALID`,
  ],
  ['ALTER TABLE deliveries DROP COLUMN storage'],
  sinceReconciliation,
);

/** Reads the table beside reads and writes, so that it becomes a partition without being read under a lock. */
export const validDeliveryStorage1765300000001: Migration = class {
  readonly name = 'ValidDeliveryStorage1765300000001';
  readonly compatibility = sinceReconciliation;
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE deliveries VALIDATE CONSTRAINT deliveries_storage');
  }

  async down(): Promise<void> {}
};
