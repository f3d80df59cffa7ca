/** The tables of the decisions service: a row per submission, and every decision recorded on it. */
import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';

/** How a column of the decisions table holds its field of the Decision message. */
export type ColumnType = 'value' | 'frequency' | 'date' | 'numeric' | 'text' | 'integer';

/**
 * The columns that hold a Decision message, each named as its field. A new field needs a line here, from which the
 * statements are derived, and a migration; tests fail until the message, this list and the table agree.
 */
export const DECISION_COLUMNS = [
  { column: 'decision', field: 'decision', type: 'value' },
  { column: 'first_payment_date', field: 'firstPaymentDate', type: 'date' },
  { column: 'payment_frequency', field: 'paymentFrequency', type: 'frequency' },
  { column: 'interest_rate', field: 'interestRate', type: 'numeric' },
  { column: 'payment_amount', field: 'paymentAmount', type: 'numeric' },
  { column: 'conditions', field: 'conditions', type: 'text' },
  { column: 'program', field: 'program', type: 'text' },
  { column: 'tier', field: 'tier', type: 'text' },
  { column: 'sale_price', field: 'salePrice', type: 'numeric' },
  { column: 'down_payment', field: 'downPayment', type: 'numeric' },
  { column: 'rebate', field: 'rebate', type: 'numeric' },
  { column: 'dealer_admin_fee', field: 'dealerAdminFee', type: 'numeric' },
  { column: 'gap_insurance', field: 'gapInsurance', type: 'numeric' },
  { column: 'extended_warranty', field: 'extendedWarranty', type: 'numeric' },
  { column: 'delivery_date', field: 'deliveryDate', type: 'date' },
  { column: 'term', field: 'term', type: 'integer' },
  { column: 'gps_fee', field: 'gpsFee', type: 'numeric' },
  { column: 'license_fee', field: 'licenseFee', type: 'numeric' },
  { column: 'lender_admin_fee', field: 'lenderAdminFee', type: 'numeric' },
  { column: 'ppsa_fee', field: 'ppsaFee', type: 'numeric' },
  { column: 'installation_delivery_fee', field: 'installationDeliveryFee', type: 'numeric' },
  { column: 'life_insurance_fee', field: 'lifeInsuranceFee', type: 'numeric' },
  { column: 'ah_insurance_fee', field: 'ahInsuranceFee', type: 'numeric' },
  { column: 'other_non_taxable', field: 'otherNonTaxable', type: 'numeric' },
  { column: 'other_taxable', field: 'otherTaxable', type: 'numeric' },
  { column: 'tax_province', field: 'taxProvince', type: 'text' },
  { column: 'max_payment', field: 'maxPayment', type: 'numeric' },
] as const satisfies readonly { column: string; field: string; type: ColumnType }[];

/** The PostgreSQL type of each column type. Amounts are exact: numeric without a scale keeps every digit. */
const SQL_TYPE = {
  value: 'text',
  frequency: 'text',
  date: 'date',
  numeric: 'numeric',
  text: 'text',
  integer: 'integer',
} as const satisfies Record<ColumnType, string>;

/** The columns that hold a decision, as a statement lists them. */
export const DECISION_COLUMN_LIST = DECISION_COLUMNS.map(({ column }) => column).join(', ');

/** The same columns, each with its PostgreSQL type, as a record definition lists them. */
export const DECISION_COLUMN_DEFINITIONS = DECISION_COLUMNS.map(
  ({ column, type }) => `${column} ${SQL_TYPE[type]}`,
).join(', ');

const key = (type: 'uuid' | 'integer'): EntitySchemaColumnOptions => ({ type, primary: true });
const optional = (type: EntitySchemaColumnOptions['type']): EntitySchemaColumnOptions => ({
  type,
  nullable: true,
});

/**
 * One application submitted to one creditor. `last_seq` is the sequence of the latest decision.
 * `worksheet` holds the terms that the retailer asked for and `terms` those that hold after the latest
 * decision, both as the protobuf JSON of LoanTerms, as in the events. The income status is null until the
 * creditor sets it.
 */
export const submissions = new EntitySchema({
  name: 'submissions',
  columns: {
    application_id: key('uuid'),
    creditor_id: key('uuid'),
    retailer_id: { type: 'uuid' },
    submitted_at: { type: 'timestamptz' },
    last_seq: { type: 'integer' },
    terms: { type: 'jsonb' },
    worksheet: { type: 'jsonb' },
    income_status: optional('text'),
    income_status_set_at: optional('timestamptz'),
    income_status_set_by: optional('uuid'),
  },
});

/** Every decision on a submission, numbered 1, 2, 3 … by `seq`; rows are never changed or deleted. */
export const decisions = new EntitySchema({
  name: 'decisions',
  columns: {
    application_id: key('uuid'),
    creditor_id: key('uuid'),
    seq: key('integer'),
    recorded_at: { type: 'timestamptz' },
    integration_id: optional('uuid'),
    call_id: optional('uuid'),
    ...Object.fromEntries(
      DECISION_COLUMNS.map(({ column, type }) => [
        column,
        { type: SQL_TYPE[type], nullable: type !== 'value' },
      ]),
    ),
  },
  indices: [
    { name: 'decisions_call', columns: ['call_id'], unique: true, where: 'call_id IS NOT NULL' },
  ],
});
