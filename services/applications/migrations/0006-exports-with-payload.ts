import { concurrentIndexMigration } from '@creditlane/postgres/sql-migration';

/** The exports that the purge looks at: their number does not grow, unlike that of all exports. */
export const exportsWithPayload1764800000000 = concurrentIndexMigration(
  'ExportsWithPayload1764800000000',
  'exports_with_payload',
  'exports (exported_at) WHERE sealed IS NOT NULL',
);
