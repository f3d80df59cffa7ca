import { sqlMigration } from '@creditlane/postgres/sql-migration';

/** Exports, each with the sealed payload of its webhook. Rows are purged, and otherwise only wrapped again. */
export const exports1764500000000 = sqlMigration('Exports1764500000000', {
  up: [
    `CREATE TABLE exports (
      id uuid PRIMARY KEY,
      application_id uuid NOT NULL REFERENCES applications,
      creditor_id uuid NOT NULL,
      integration_id uuid NOT NULL,
      exported_by_integration_id uuid NOT NULL,
      sealed bytea NOT NULL,
      sealed_with text NOT NULL,
      exported_at timestamptz NOT NULL
    )`,
    'CREATE INDEX exports_sealed_with ON exports (sealed_with)',
    'CREATE INDEX exports_exported_at ON exports (exported_at)',
  ],
});
