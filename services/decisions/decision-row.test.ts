import { create, equals, ScalarType } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { expect, test } from 'vitest';
import { decisionCells, decisionFromRow } from './decision-row.ts';
import { DECISION_COLUMNS } from './tables.ts';

const rowOf = (cells: unknown[]) =>
  Object.fromEntries(DECISION_COLUMNS.map(({ column }, index) => [column, cells[index]]));

test('every field of a decision has a column of its own name', () => {
  const fields = DecisionSchema.fields.map(({ name, localName }) => [name, localName]);
  expect(DECISION_COLUMNS.map(({ column, field }) => [column, field])).toEqual(fields);
});

test('every amount is exact', () => {
  const doubles = DecisionSchema.fields.filter(({ scalar }) => scalar === ScalarType.DOUBLE);
  const numerics = DECISION_COLUMNS.filter(({ type }) => type === 'numeric');
  expect(numerics.map(({ column }) => column)).toEqual(doubles.map(({ name }) => name));
});

test('a decision comes back from its row as it was, with nothing added', () => {
  const decision = create(DecisionSchema, {
    decision: DecisionValue.CONDITIONALLY_APPROVED,
    firstPaymentDate: '2026-03-01',
    paymentFrequency: PaymentFrequency.BI_WEEKLY,
    interestRate: 6.99,
    term: 0,
    conditions: '',
    taxProvince: 'ON',
  });
  const cells = decisionCells(decision);
  expect(cells.slice(0, 4)).toEqual(['CONDITIONALLY_APPROVED', '2026-03-01', 'BI_WEEKLY', 6.99]);
  expect(equals(DecisionSchema, decisionFromRow(rowOf(cells)), decision)).toBe(true);
});

test('what a decision does not give is null in its row and not there when it comes back', () => {
  const decision = create(DecisionSchema, { decision: DecisionValue.DECLINED });
  const [value, ...others] = decisionCells(decision);
  expect(value).toBe('DECLINED');
  expect(new Set(others)).toEqual(new Set([null]));
  expect(decisionFromRow(rowOf([value, ...others]))).toEqual(decision);
});
