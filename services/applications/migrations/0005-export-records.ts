import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The purge of exports deletes their payloads and keeps the rows, which tell who exported what, to whom and when.
 * The version before deletes whole rows.
 */
export const exportRecords1764700000000 = sqlMigration('ExportRecords1764700000000', {
  up: [
    'ALTER TABLE exports ALTER COLUMN sealed DROP NOT NULL, ALTER COLUMN sealed_with DROP NOT NULL',
  ],
});
