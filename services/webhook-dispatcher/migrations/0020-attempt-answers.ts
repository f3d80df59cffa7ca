import { makeDaysSql } from '@creditlane/postgres/partitions/day-partitions';
import { enableRowSecuritySql } from '@creditlane/postgres/row-security/policies';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * Adds the sealed beginnings of answers to failed attempts, in partitions by the same days as the attempts. A table of its own: the
 * statement that records attempts, most of which succeed, stays as it is. What the key has sealed cannot be compressed.
 */
export const attemptAnswers1766300000000 = sqlMigration('AttemptAnswers1766300000000', {
  up: [
    `CREATE TABLE attempt_answers (
      delivery_id uuid NOT NULL,
      started_at timestamptz NOT NULL,
      sealed bytea STORAGE EXTERNAL NOT NULL,
      PRIMARY KEY (delivery_id, started_at)
    ) PARTITION BY RANGE (delivery_id)`,
    'CREATE TABLE attempt_answers_default PARTITION OF attempt_answers DEFAULT',
    'CREATE INDEX ON attempt_answers_default (started_at)',
    makeDaysSql({ table: 'attempt_answers', key: 'uuid' }, 0),
    ...enableRowSecuritySql('attempt_answers', {
      rows: 'EXISTS (SELECT FROM deliveries WHERE deliveries.id = attempt_answers.delivery_id)',
      privileges: 'SELECT',
    }),
  ],
  compatibility: 'only adds',
});
