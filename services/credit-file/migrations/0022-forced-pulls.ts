import { enableRowSecuritySql, isInScopeSql } from '@creditlane/postgres/row-security/policies';
import { grantToRequestRoleSql } from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const COUNT = 'count_forced_pulls(uuid, bytea[], text, timestamptz)';

/**
 * Whom the forced pulls of the last day were about. One person is counted over all retailers, and a request sees the rows
 * of its own: the function, which acts as the owner of the tables, tells it nothing but the number.
 */
export const forcedPulls1766300000000 = sqlMigration('ForcedPulls1766300000000', {
  up: [
    `CREATE TABLE forced_pulls (
      person_digest bytea NOT NULL,
      pull_id uuid NOT NULL,
      applicant_id uuid NOT NULL,
      retailer_id uuid NOT NULL,
      requested_at timestamptz NOT NULL,
      PRIMARY KEY (person_digest, pull_id)
    )`,
    'CREATE INDEX forced_pulls_applicant ON forced_pulls (applicant_id)',
    ...enableRowSecuritySql('forced_pulls', {
      rows: isInScopeSql('retailer_id', 'retailers'),
      privileges: 'INSERT',
    }),
    `CREATE FUNCTION count_forced_pulls(of_applicant uuid, digests bytea[], of_source text, since timestamptz)
     RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $f$
       SELECT count(*) FROM pulls
       WHERE source = of_source AND forced AND requested_at > since
         AND (finished_at IS NULL OR sent_at IS NOT NULL)
         AND id IN (
           SELECT id FROM pulls WHERE applicant_id = of_applicant
           UNION SELECT pull_id FROM forced_pulls WHERE person_digest = ANY (digests))
     $f$`,
    `REVOKE ALL ON FUNCTION ${COUNT} FROM PUBLIC`,
    grantToRequestRoleSql('EXECUTE', `FUNCTION ${COUNT}`),
  ],
  compatibility: 'only adds',
});
