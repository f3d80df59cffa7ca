import { createIdempotencySql } from '@creditlane/idempotency/stored-answers';
import { createDeadLettersSql } from '@creditlane/messaging/dead-letters';
import { createOutboxSql } from '@creditlane/messaging/outbox';
import { createInboxSql } from '@creditlane/messaging/transactional-inbox';
import { sqlMigration } from '@creditlane/postgres/sql-migration';

const CREATE = [
  // A decision updates its submission's row in place (a HOT update): no index covers the changed
  // columns, and the fillfactor leaves room on the page for the new version.
  `CREATE TABLE submissions (
    application_id uuid NOT NULL,
    creditor_id uuid NOT NULL,
    retailer_id uuid NOT NULL,
    submitted_at timestamptz NOT NULL,
    last_seq integer NOT NULL,
    terms jsonb NOT NULL,
    worksheet jsonb NOT NULL,
    PRIMARY KEY (application_id, creditor_id)
  ) WITH (fillfactor = 90)`,
  // No foreign key to submissions: every statement that inserts here takes the key from a submission's
  // row that it has inserted or locked, and checking the key again would cost each write a query.
  `CREATE TABLE decisions (
    application_id uuid NOT NULL,
    creditor_id uuid NOT NULL,
    seq integer NOT NULL,
    recorded_at timestamptz NOT NULL,
    integration_id uuid,
    decision text NOT NULL,
    first_payment_date date,
    payment_frequency text,
    interest_rate numeric,
    payment_amount numeric,
    conditions text,
    program text,
    tier text,
    sale_price numeric,
    down_payment numeric,
    rebate numeric,
    dealer_admin_fee numeric,
    gap_insurance numeric,
    extended_warranty numeric,
    delivery_date date,
    term integer,
    gps_fee numeric,
    license_fee numeric,
    lender_admin_fee numeric,
    ppsa_fee numeric,
    installation_delivery_fee numeric,
    life_insurance_fee numeric,
    ah_insurance_fee numeric,
    other_non_taxable numeric,
    other_taxable numeric,
    tax_province text,
    max_payment numeric,
    PRIMARY KEY (application_id, creditor_id, seq)
  )`,
  ...createOutboxSql,
  ...createInboxSql,
  ...createDeadLettersSql,
  ...createIdempotencySql,
];

/** Submissions with their decisions, the outbox, the transactional inbox, and stored answers. */
export const submissionsAndDecisions1763700000000 = sqlMigration(
  'SubmissionsAndDecisions1763700000000',
  { up: CREATE },
);
