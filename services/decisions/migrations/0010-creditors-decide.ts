import { isInScopeSql } from '@creditlane/postgres/row-security/policies';
import {
  grantToRequestRoleSql,
  revokeFromRequestRoleSql,
} from '@creditlane/postgres/row-security/request-role';
import { sqlMigration } from '@creditlane/postgres/sql-migration';
import { submissionsAndDecisions1763700000000 } from './0001-submissions-and-decisions.ts';

// Each policy has had one condition for what is read and for what is written; now a creditor alone writes.
const OF_CREDITOR = isInScopeSql('creditor_id', 'creditors');

/** Names the table, so that the migration waits for its VACUUM. */
const nameTable = (table: string) => `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`;

const compatibility = { since: submissionsAndDecisions1763700000000 };

/** Only a creditor's requests change a submission, and of it the terms, the last sequence and the income status. */
const submissions1766200000000 = sqlMigration('SubmissionsOfCreditors1766200000000', {
  up: [
    nameTable('submissions'),
    `ALTER POLICY scope ON submissions WITH CHECK (${OF_CREDITOR})`,
    revokeFromRequestRoleSql('submissions'),
    grantToRequestRoleSql(
      `SELECT, UPDATE (last_seq, terms, income_status, income_status_set_at, income_status_set_by)`,
      'submissions',
    ),
  ],
  compatibility,
});

/** Only a creditor's requests record decisions. */
const decisions1766200000001 = sqlMigration('DecisionsOfCreditors1766200000001', {
  up: [nameTable('decisions'), `ALTER POLICY scope ON decisions WITH CHECK (${OF_CREDITOR})`],
  compatibility,
});

/** Requests of creditors write submissions and decisions, those of retailers read them. */
export const creditorsDecide = [submissions1766200000000, decisions1766200000001];
