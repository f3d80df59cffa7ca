import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The call that recorded a decision, so that no attempt at it records another. The index costs a
 * write less than its noise: ids of calls rise with time, so it grows at its end. Built over a column
 * that is still empty, it holds writes up for as long as mapQueryResult the table takes.
 */
export const decisionCalls1763900000000 = sqlMigration(
  'DecisionCalls1763900000000',
  [
    'ALTER TABLE decisions ADD COLUMN call_id uuid',
    'CREATE UNIQUE INDEX decisions_call ON decisions (call_id) WHERE call_id IS NOT NULL',
  ],
  ['ALTER TABLE decisions DROP COLUMN call_id'],
);
