import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { createOutboxSql } from '@creditlane/messaging/outbox';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const CREATE = [
  `CREATE TABLE retailer_groups (
    id uuid PRIMARY KEY,
    name text NOT NULL
  )`,
  `CREATE TABLE retailers (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    retailer_group_id uuid REFERENCES retailer_groups
  )`,
  'CREATE INDEX retailers_group ON retailers (retailer_group_id)',
  // Retailers and groups are never deleted, so the ids in the arrays always name existing rows.
  `CREATE TABLE users (
    id uuid PRIMARY KEY,
    first_name text NOT NULL,
    last_name text NOT NULL,
    email text NOT NULL,
    active boolean NOT NULL,
    retailer_ids uuid[] NOT NULL,
    retailer_group_ids uuid[] NOT NULL
  )`,
  'CREATE INDEX users_retailers ON users USING gin (retailer_ids)',
  'CREATE INDEX users_retailer_groups ON users USING gin (retailer_group_ids)',
  `CREATE TABLE creditors (
    id uuid PRIMARY KEY,
    name text NOT NULL
  )`,
  `CREATE TABLE applications (
    id uuid PRIMARY KEY,
    retailer_id uuid NOT NULL REFERENCES retailers,
    type text NOT NULL,
    status text NOT NULL,
    reference_number text,
    relationship text,
    created_at timestamptz NOT NULL
  )`,
  // Applications without a reference number do not conflict: nulls are distinct.
  'CREATE UNIQUE INDEX applications_reference ON applications (retailer_id, reference_number)',
  `CREATE TABLE applicants (
    id uuid PRIMARY KEY,
    application_id uuid NOT NULL REFERENCES applications,
    role text NOT NULL,
    sealed bytea NOT NULL,
    sealed_with text NOT NULL
  )`,
  'CREATE UNIQUE INDEX applicants_application ON applicants (application_id, role)',
  'CREATE INDEX applicants_sealed_with ON applicants (sealed_with)',
  `CREATE TABLE submissions (
    application_id uuid NOT NULL REFERENCES applications,
    creditor_id uuid NOT NULL REFERENCES creditors,
    submitted_by_user_id uuid NOT NULL REFERENCES users,
    integration_id uuid NOT NULL,
    worksheet jsonb NOT NULL,
    submitted_at timestamptz NOT NULL,
    PRIMARY KEY (application_id, creditor_id)
  )`,
  // Evidence of each consent and of the user who recorded it. Rows are never deleted, and nothing of them changes but
  // the revocation, which a later migration adds.
  `CREATE TABLE consents (
    id uuid PRIMARY KEY,
    applicant_id uuid NOT NULL REFERENCES applicants,
    recorded_by_user_id uuid NOT NULL REFERENCES users,
    integration_id uuid NOT NULL,
    consented_at timestamptz NOT NULL
  )`,
  'CREATE INDEX consents_applicant ON consents (applicant_id)',
  ...createOutboxSql,
  ...createIdempotencySql,
];

/** The directory, applications with their applicants, and submissions. */
export const applications1763700000000 = sqlMigration('Applications1763700000000', {
  up: CREATE,
});
