import { createDeadLettersSql } from '@creditlane/messaging/dead-letters';
import { createInboxSql } from '@creditlane/messaging/transactional-inbox';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const CREATE = [
  // The high-water mark: the highest sequence of a submission's decisions that was handled.
  `CREATE TABLE submissions (
    application_id uuid NOT NULL,
    creditor_id uuid NOT NULL,
    seen_sequence bigint NOT NULL,
    PRIMARY KEY (application_id, creditor_id)
  )`,
  // The last webhook-sequence assigned. The row is kept when the deliveries with the numbers are deleted.
  `CREATE TABLE sequences (
    application_id uuid NOT NULL,
    destination_id uuid NOT NULL,
    creditor_id uuid NOT NULL,
    last_sequence bigint NOT NULL,
    PRIMARY KEY (application_id, destination_id, creditor_id)
  )`,
  // A body is stored once per event, so that every attempt at every destination sends the same bytes,
  // even when a newer version of the service would render the event differently.
  `CREATE TABLE messages (
    event_id uuid PRIMARY KEY,
    event text NOT NULL,
    creditor_id uuid NOT NULL,
    body text NOT NULL,
    recorded_at timestamptz NOT NULL
  )`,
  'CREATE INDEX messages_age ON messages USING brin (recorded_at)',
  // A lane is an application and a destination; `position` is the order within the lane. Of the pending
  // deliveries with `holding`, which keep the later ones of their lane waiting, the first is due and the
  // others wait. A leased delivery belongs to one process until next_attempt_at; afterwards any process
  // may claim it.
  `CREATE TABLE deliveries (
    id uuid PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY,
    event_id uuid NOT NULL,
    destination_id uuid NOT NULL,
    application_id uuid NOT NULL,
    sequence bigint,
    state text NOT NULL CHECK (state IN ('waiting', 'due', 'delivered', 'dead')),
    leased boolean NOT NULL,
    fence integer NOT NULL,
    attempts smallint NOT NULL DEFAULT 0,
    next_attempt_at timestamptz,
    holding boolean NOT NULL DEFAULT true,
    hold_until timestamptz,
    reason text,
    created_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    UNIQUE (event_id, destination_id)
  )`,
  'CREATE INDEX deliveries_lane ON deliveries (application_id, destination_id, position)',
  `CREATE INDEX deliveries_due ON deliveries (destination_id, next_attempt_at)
   WHERE state = 'due'`,
  `CREATE INDEX deliveries_hold ON deliveries (hold_until)
   WHERE state = 'due' AND holding AND hold_until IS NOT NULL`,
  `CREATE INDEX deliveries_waiting ON deliveries (created_at) WHERE state = 'waiting'`,
  `CREATE INDEX deliveries_dead ON deliveries (id) WHERE state = 'dead'`,
  'CREATE INDEX deliveries_age ON deliveries USING brin (created_at)',
  `CREATE TABLE attempts (
    delivery_id uuid NOT NULL,
    number smallint NOT NULL,
    started_at timestamptz NOT NULL,
    duration_ms integer NOT NULL,
    status smallint,
    failure text,
    PRIMARY KEY (delivery_id, number)
  )`,
  `CREATE TABLE destination_states (
    destination_id uuid PRIMARY KEY,
    last_success_at timestamptz,
    failing_since timestamptz,
    disabled_at timestamptz,
    disabled_reason text
  )`,
];

/** Deliveries with their attempts and order, and the states of destinations. */
export const webhooks1763700000000 = sqlMigration('Webhooks1763700000000', {
  up: [...createInboxSql, ...createDeadLettersSql, ...CREATE],
});
