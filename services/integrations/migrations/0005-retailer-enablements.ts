import { createOutboxSql } from '@creditlane/messaging/outbox';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Retailers' own enabling of integrations, and the outbox for its events. A grant that the platform gave, as
 * all earlier ones, has no enablement.
 */
export const retailerEnablements1764300000000 = sqlMigration('RetailerEnablements1764300000000', {
  up: [
    `CREATE TABLE retailer_enablements (
      id uuid PRIMARY KEY,
      integration_id uuid NOT NULL REFERENCES integrations,
      retailer_id uuid NOT NULL,
      retailer_name text NOT NULL,
      sealed_config bytea,
      sealed_with text,
      enabled_at timestamptz NOT NULL
    )`,
    'CREATE INDEX retailer_enablements_sealed_with ON retailer_enablements (sealed_with)',
    'CREATE INDEX retailer_enablements_age ON retailer_enablements (enabled_at)',
    `ALTER TABLE retailer_grants
       ADD COLUMN enablement_id uuid REFERENCES retailer_enablements`,
    `CREATE UNIQUE INDEX retailer_grants_enablement ON retailer_grants (enablement_id)`,
    ...createOutboxSql,
  ],
});
