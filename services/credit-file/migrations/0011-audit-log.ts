import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The audit log and the head of each retailer's chain. Neither requests nor the service may change or delete a
 * record: they lack the privilege, and a trigger refuses the change should the owner grant itself the privilege.
 */
export const auditLog1764920000000 = sqlMigration('AuditLog1764920000000', {
  up: [
    `CREATE TABLE audit_records (
      retailer_id uuid NOT NULL,
      seq bigint NOT NULL,
      recorded_at timestamptz NOT NULL,
      action text NOT NULL,
      actor_kind text NOT NULL,
      actor text NOT NULL,
      request_id text,
      purpose text,
      application_id uuid,
      applicant_id uuid,
      pull_id uuid,
      file_id uuid,
      consent_id uuid,
      source text,
      outcome text,
      hash bytea NOT NULL,
      PRIMARY KEY (retailer_id, seq)
    )`,
    'CREATE INDEX audit_records_pull ON audit_records (pull_id) WHERE pull_id IS NOT NULL',
    `CREATE TABLE audit_heads (
      retailer_id uuid PRIMARY KEY,
      sealed bytea NOT NULL,
      sealed_with text NOT NULL
    )`,
    'CREATE INDEX audit_heads_sealed_with ON audit_heads (sealed_with)',
    `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        RAISE EXCEPTION 'audit records are neither changed nor deleted'
          USING ERRCODE = 'restrict_violation';
      END $$`,
    `CREATE TRIGGER audit_records_are_kept BEFORE UPDATE OR DELETE ON audit_records
      FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
    `CREATE TRIGGER audit_records_are_not_truncated BEFORE TRUNCATE ON audit_records
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
    'REVOKE UPDATE, DELETE, TRUNCATE ON audit_records FROM CURRENT_USER',
    'REVOKE DELETE, TRUNCATE ON audit_heads FROM CURRENT_USER',
    ...enableRowSecuritySql('audit_records', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'INSERT',
    }),
    ...enableRowSecuritySql('audit_heads', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'SELECT, INSERT, UPDATE',
    }),
  ],
});
