import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The exports whose payload the erasure of an applicant deletes. */
export const exportsOfApplication1764960000000 = concurrentIndexMigration(
  'ExportsOfApplication1764960000000',
  'exports_of_application',
  'exports (application_id) WHERE sealed IS NOT NULL',
);
