import { sqlMigration } from '@creditlane/postgres/sql-migration';

/**
 * The call that recorded a decision, so that a repeated attempt at the call records no second one. The
 * index adds no measurable cost to a write: call ids rise with time, so the index grows at its end.
 * Building the index over the empty column blocks writes for as long as one scan of the table takes.
 */
export const decisionCalls1763900000000 = sqlMigration('DecisionCalls1763900000000', {
  up: [
    'ALTER TABLE decisions ADD COLUMN call_id uuid',
    'CREATE UNIQUE INDEX decisions_call ON decisions (call_id) WHERE call_id IS NOT NULL',
  ],
});
