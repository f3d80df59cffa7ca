import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The retailer for which a request was made, where it is not that of the record's chain. The version before takes a record with
 * a context for a changed one: none is written before the compatibility floor of this migration is raised, as it is in a
 * new database.
 */
export const retailerContexts1766100000000 = sqlMigration('RetailerContexts1766100000000', {
  up: ['ALTER TABLE audit_records ADD COLUMN retailer_context uuid'],
  compatibility: 'only adds',
  raisesFloorOfNewDatabase: true,
});
