import { create, equals, ScalarType } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import { decisionFromRow, decisionValues } from './decision-row.ts';
import { DECISION_COLUMNS } from './tables.ts';

const rowFrom = (values: unknown[]) =>
  Object.fromEntries(DECISION_COLUMNS.map(({ column }, index) => [column, values[index]]));

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
  const values = decisionValues(decision);
  expect(values.slice(0, 4)).toEqual(['CONDITIONALLY_APPROVED', '2026-03-01', 'BI_WEEKLY', 6.99]);
  expect(equals(DecisionSchema, decisionFromRow(rowFrom(values)), decision)).toBe(true);
});

test('an absent field is null in the row and absent when the row is read', () => {
  const decision = create(DecisionSchema, { decision: DecisionValue.DECLINED });
  const [value, ...others] = decisionValues(decision);
  expect(value).toBe('DECLINED');
  expect(new Set(others)).toEqual(new Set([null]));
  expect(decisionFromRow(rowFrom([value, ...others]))).toEqual(decision);
});
