import { create, equals, ScalarType } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import { decisionColumns, decisionFromRow } from './decision-row.ts';
import { DECISION_COLUMNS } from './tables.ts';

test('each field of a decision has a column of the same name', () => {
  const fields = DecisionSchema.fields.map(({ name, localName }) => [name, localName]);
  expect(DECISION_COLUMNS.map(({ column, field }) => [column, field])).toEqual(fields);
});

test('each amount has a numeric column, which is exact', () => {
  const doubles = DecisionSchema.fields.filter(({ scalar }) => scalar === ScalarType.DOUBLE);
  const numerics = DECISION_COLUMNS.filter(({ type }) => type === 'numeric');
  expect(numerics.map(({ column }) => column)).toEqual(doubles.map(({ name }) => name));
});

test('a decision read from its row equals the decision written', () => {
  const decision = create(DecisionSchema, {
    decision: DecisionValue.CONDITIONALLY_APPROVED,
    firstPaymentDate: '2026-03-01',
    paymentFrequency: PaymentFrequency.BI_WEEKLY,
    interestRate: 6.99,
    term: 0,
    conditions: '',
    taxProvince: 'ON',
  });
  const row = decisionColumns(decision);
  expect(Object.keys(row)).toEqual(DECISION_COLUMNS.map(({ column }) => column));
  expect(row).toMatchObject({
    decision: 'CONDITIONALLY_APPROVED',
    first_payment_date: '2026-03-01',
    payment_frequency: 'BI_WEEKLY',
    interest_rate: 6.99,
  });
  expect(equals(DecisionSchema, decisionFromRow(row), decision)).toBe(true);
});

test('an absent field is null in the row and absent when the row is read', () => {
  const decision = create(DecisionSchema, { decision: DecisionValue.DECLINED });
  const row = decisionColumns(decision);
  const { decision: value, ...others } = row;
  expect(value).toBe('DECLINED');
  expect(new Set(Object.values(others))).toEqual(new Set([null]));
  expect(decisionFromRow(row)).toEqual(decision);
});
