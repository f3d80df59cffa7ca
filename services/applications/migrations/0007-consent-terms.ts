import { grantToRequestRoleSql } from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * What a consent permits, until when, and its revocation. A consent that the version before records, or recorded,
 * has the defaults: it was recorded when it was captured, and `expires_at` is null, which means a year later. Requests
 * change nothing of a consent but its revocation.
 */
export const consentTerms1764900000000 = sqlMigration('ConsentTerms1764900000000', {
  up: [
    `ALTER TABLE consents
       ADD COLUMN purpose text NOT NULL DEFAULT 'CREDIT_APPLICATION',
       ADD COLUMN text_version text NOT NULL DEFAULT 'unspecified',
       ADD COLUMN document_sha256 bytea,
       ADD COLUMN recorded_at timestamptz,
       ADD COLUMN expires_at timestamptz,
       ADD COLUMN revoked_at timestamptz,
       ADD COLUMN revoked_by_integration_id uuid,
       ADD COLUMN revoked_by_user_id uuid REFERENCES users`,
    grantToRequestRoleSql(
      'SELECT, UPDATE (revoked_at, revoked_by_integration_id, revoked_by_user_id)',
      'consents',
    ),
  ],
});
