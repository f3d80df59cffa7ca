import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const CREATE = [
  `CREATE TABLE integrations (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    permissions text[] NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  `CREATE TABLE keys (
    id uuid PRIMARY KEY,
    integration_id uuid NOT NULL REFERENCES integrations,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
  )`,
  'CREATE UNIQUE INDEX keys_digest ON keys (digest)',
  'CREATE INDEX keys_integration ON keys (integration_id)',
  `CREATE TABLE retailer_grants (
    integration_id uuid NOT NULL REFERENCES integrations,
    retailer_id uuid NOT NULL,
    granted_at timestamptz NOT NULL,
    revoked_at timestamptz,
    PRIMARY KEY (integration_id, retailer_id)
  )`,
  `CREATE INDEX retailer_grants_live ON retailer_grants (retailer_id) WHERE revoked_at IS NULL`,
  `CREATE TABLE creditor_grants (
    integration_id uuid NOT NULL REFERENCES integrations,
    creditor_id uuid NOT NULL,
    granted_at timestamptz NOT NULL,
    revoked_at timestamptz,
    disabled_at timestamptz,
    PRIMARY KEY (integration_id, creditor_id)
  )`,
  `CREATE INDEX creditor_grants_live ON creditor_grants (creditor_id)
   WHERE revoked_at IS NULL AND disabled_at IS NULL`,
  `CREATE TABLE destinations (
    id uuid PRIMARY KEY,
    integration_id uuid NOT NULL REFERENCES integrations,
    url text NOT NULL,
    sealed_secret bytea NOT NULL,
    sealed_with text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  'CREATE UNIQUE INDEX destinations_integration ON destinations (integration_id)',
  'CREATE INDEX destinations_sealed_with ON destinations (sealed_with)',
  ...createIdempotencySql,
];

/** Integrations, with their keys, grants and destinations. */
export const integrations1763700000000 = sqlMigration('Integrations1763700000000', {
  up: CREATE,
});
