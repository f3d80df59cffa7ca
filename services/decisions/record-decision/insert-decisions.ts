/**
 * The statement that records many decisions.
 *
 * To see the statement as it runs, to paste into psql:
 * node -e "import('./services/decisions/record-decision/insert-decisions.ts').then((m) => console.log(m.insertDecisionsStatement.text))"
 */
import {
  hasNoStoredAnswerSql,
  insertStoredAnswerSql,
} from '@creditlane/idempotency/stored-answers';
import { insertOutboxSql } from '@creditlane/messaging/outbox';
import { toColumnArrays } from '@creditlane/postgres/array-rows';
import { defineStatement, type Queryable } from '@creditlane/postgres/statement';
import { type NewDecision, parametersOf } from './insert-decision.ts';

/**
 * As `insertDecisionStatement`, for many decisions in one round trip, but only for decisions that need
 * not wait for a lock: SKIP LOCKED leaves out a submission whose row is locked, and the UPDATE changes a
 * row once, which leaves out all but one decision of a submission. So a locked submission delays no
 * other decision, and two of these statements cannot deadlock.
 *
 * Each parameter is the list of one column. The first list is unnested and the others are indexed by
 * position, which costs less for up to `FEW_ROWS` of them (array-rows.ts): a round has fewer.
 *
 * OFFSET 0 keeps the subscripts out of the joins. PostgreSQL compares an expression that may fail, as a subscript
 * may, only with rows that row security has let through, and so without an index: with subscripts in the
 * condition on stored answers, each decision read the whole table of them.
 */
export const insertDecisionsStatement = defineStatement<{ call_id: string; last_seq: number }>(
  'decisions_insert',
  `WITH free AS MATERIALIZED (
    SELECT request.*
    FROM (
      SELECT application_id,
        ($2::uuid[])[place] AS creditor_id,
        ($3::timestamptz[])[place] AS recorded_at,
        ($4::uuid[])[place] AS integration_id,
        ($5::uuid[])[place] AS call_id,
        ($6::smallint[])[place] AS shard,
        ($7::text[])[place] AS traceparent,
        ($8::jsonb[])[place] AS event,
        ($9::jsonb[])[place] AS new_terms,
        ($10::text[])[place] AS caller_id,
        ($11::text[])[place] AS operation,
        ($12::text[])[place] AS key,
        ($13::bytea[])[place] AS request_digest,
        ($14::bytea[])[place] AS response,
        ($15::text[])[place] AS decision,
        ($16::date[])[place] AS first_payment_date,
        ($17::text[])[place] AS payment_frequency,
        ($18::numeric[])[place] AS interest_rate,
        ($19::numeric[])[place] AS payment_amount,
        ($20::text[])[place] AS conditions,
        ($21::text[])[place] AS program,
        ($22::text[])[place] AS tier,
        ($23::numeric[])[place] AS sale_price,
        ($24::numeric[])[place] AS down_payment,
        ($25::numeric[])[place] AS rebate,
        ($26::numeric[])[place] AS dealer_admin_fee,
        ($27::numeric[])[place] AS gap_insurance,
        ($28::numeric[])[place] AS extended_warranty,
        ($29::date[])[place] AS delivery_date,
        ($30::integer[])[place] AS term,
        ($31::numeric[])[place] AS gps_fee,
        ($32::numeric[])[place] AS license_fee,
        ($33::numeric[])[place] AS lender_admin_fee,
        ($34::numeric[])[place] AS ppsa_fee,
        ($35::numeric[])[place] AS installation_delivery_fee,
        ($36::numeric[])[place] AS life_insurance_fee,
        ($37::numeric[])[place] AS ah_insurance_fee,
        ($38::numeric[])[place] AS other_non_taxable,
        ($39::numeric[])[place] AS other_taxable,
        ($40::text[])[place] AS tax_province,
        ($41::numeric[])[place] AS max_payment
      FROM unnest($1::uuid[]) WITH ORDINALITY AS list (application_id, place)
      OFFSET 0
    ) AS request
    JOIN submissions AS submission ON submission.application_id = request.application_id
      AND submission.creditor_id = request.creditor_id
      AND ${hasNoStoredAnswerSql('request.caller_id', 'request.operation', 'request.key')}
    FOR UPDATE OF submission SKIP LOCKED
  ), advanced AS (
    UPDATE submissions AS submission
    SET last_seq = last_seq + 1, terms = submission.terms || free.new_terms
    FROM free
    WHERE submission.application_id = free.application_id
      AND submission.creditor_id = free.creditor_id
    RETURNING submission.retailer_id, submission.last_seq, submission.terms,
      submission.worksheet, free.*
  ), inserted AS (
    INSERT INTO decisions (application_id, creditor_id, seq,
      recorded_at, integration_id, call_id,
      decision, first_payment_date, payment_frequency, interest_rate, payment_amount, conditions,
      program, tier, sale_price, down_payment, rebate, dealer_admin_fee,
      gap_insurance, extended_warranty, delivery_date, term, gps_fee, license_fee,
      lender_admin_fee, ppsa_fee, installation_delivery_fee, life_insurance_fee, ah_insurance_fee,
      other_non_taxable, other_taxable, tax_province, max_payment)
    SELECT application_id, creditor_id, last_seq,
      recorded_at, integration_id, call_id,
      decision, first_payment_date, payment_frequency, interest_rate, payment_amount, conditions,
      program, tier, sale_price, down_payment, rebate, dealer_admin_fee,
      gap_insurance, extended_warranty, delivery_date, term, gps_fee, license_fee,
      lender_admin_fee, ppsa_fee, installation_delivery_fee, life_insurance_fee, ah_insurance_fee,
      other_non_taxable, other_taxable, tax_province, max_payment
    FROM advanced
  ), answers AS (
    ${insertStoredAnswerSql}
    SELECT caller_id, operation, key, request_digest, response
    FROM advanced WHERE key IS NOT NULL
  ), events AS (
    ${insertOutboxSql}
    SELECT shard, 'creditlane.decisions.v1', application_id::text, call_id,
      'creditlane.decisions.v1.DecisionRecorded',
      traceparent, event || jsonb_build_object('retailerId', retailer_id, 'sequence', last_seq,
        'terms', terms, 'worksheet', worksheet)
    FROM advanced
  )
  SELECT call_id, last_seq FROM advanced`,
);

/**
 * Inserts the decisions that need not wait for a lock, all of them or none, and resolves to one result
 * for each row: its sequence, or undefined when the decision was left out or when `insertDecision` would
 * resolve to undefined. Rejects as `insertDecision` does.
 */
export async function insertDecisions(
  db: Queryable,
  rows: readonly NewDecision[],
): Promise<(number | undefined)[]> {
  const parameters = rows.map(parametersOf);
  const lists = toColumnArrays(parameters, parameters[0]?.length ?? 0);
  const inserted = await insertDecisionsStatement.run(db, lists);
  const sequences = new Map(inserted.map(({ call_id, last_seq }) => [call_id, last_seq]));
  return rows.map(({ retryToken }) => sequences.get(retryToken));
}
