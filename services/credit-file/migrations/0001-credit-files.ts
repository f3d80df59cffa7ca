import { createIdempotencySql, secureIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const CREATE = [
  `CREATE TABLE pulls (
    id uuid PRIMARY KEY,
    retailer_id uuid NOT NULL,
    application_id uuid NOT NULL,
    applicant_id uuid NOT NULL,
    seq integer NOT NULL,
    last_request integer NOT NULL,
    source text NOT NULL,
    state text NOT NULL,
    failure text,
    forced boolean NOT NULL,
    request_key text,
    key_id uuid NOT NULL,
    requested_by text NOT NULL,
    request_id text NOT NULL,
    consent jsonb NOT NULL,
    attempts integer NOT NULL,
    fence integer NOT NULL,
    due_at timestamptz,
    requested_at timestamptz NOT NULL,
    sent_at timestamptz,
    finished_at timestamptz
  )`,
  'CREATE UNIQUE INDEX pulls_sequence ON pulls (applicant_id, seq)',
  `CREATE UNIQUE INDEX pulls_request_key ON pulls (applicant_id, request_key)
   WHERE request_key IS NOT NULL`,
  // At most one unfinished pull of an applicant and source, whatever a request has found.
  `CREATE UNIQUE INDEX pulls_unfinished ON pulls (applicant_id, source)
   WHERE finished_at IS NULL`,
  'CREATE INDEX pulls_due ON pulls (due_at) WHERE finished_at IS NULL',
  // No foreign key to pulls: one transaction inserts the file and ends the pull, which it has locked.
  `CREATE TABLE credit_files (
    id uuid PRIMARY KEY,
    pull_id uuid NOT NULL,
    retailer_id uuid NOT NULL,
    applicant_id uuid NOT NULL,
    source text NOT NULL,
    hit_type text NOT NULL,
    requested_date date NOT NULL,
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL
  )`,
  'CREATE UNIQUE INDEX credit_files_pull ON credit_files (pull_id)',
  'CREATE INDEX credit_files_applicant ON credit_files (applicant_id)',
  `CREATE TABLE bureau_credentials (
    retailer_id uuid NOT NULL,
    source text NOT NULL,
    sealed bytea NOT NULL,
    sealed_with text NOT NULL,
    set_at timestamptz NOT NULL,
    PRIMARY KEY (retailer_id, source)
  )`,
  'CREATE INDEX bureau_credentials_sealed_with ON bureau_credentials (sealed_with)',
  ...createIdempotencySql,
];

/**
 * Requests see the records of their retailer, and number a pull that they join. Only the service's own work ends pulls
 * and stores files.
 */
const SECURE = [
  ...enableRowSecuritySql('pulls', {
    rows: isInScopeSql('retailer_id', 'retailers'),
    privileges: 'SELECT, INSERT, UPDATE (last_request)',
  }),
  ...enableRowSecuritySql('credit_files', {
    rows: isInScopeSql('retailer_id', 'retailers'),
    privileges: 'SELECT',
  }),
  ...enableRowSecuritySql('bureau_credentials', {
    rows: isInScopeSql('retailer_id', 'retailers'),
    privileges: 'SELECT, INSERT, UPDATE, DELETE',
  }),
  ...secureIdempotencySql,
];

/** Pulls, credit files, the retailers' credentials with the bureaus, and stored answers. */
export const creditFiles1764700000000 = sqlMigration('CreditFiles1764700000000', {
  up: [...CREATE, ...SECURE],
});
