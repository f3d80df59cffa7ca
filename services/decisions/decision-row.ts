/** Converts a decision to the columns of its row, and back. */
import { create } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import {
  type Decision,
  DecisionSchema,
  DecisionValue,
} from '@creditlane/proto/decisions/v1/decision';
import { type ColumnType, DECISION_COLUMNS } from './tables.ts';

/** The value of a decision's column. Enum values are stored by name, so that people can read a row. */
type ColumnValue = string | number | null;

/** The values of the decision's columns, by their names; an absent field is null. */
export function decisionColumns(decision: Decision): Record<string, ColumnValue> {
  const values = DECISION_COLUMNS.map(
    ({ column, field, type }) => [column, toColumn(type, decision[field])] as const,
  );
  return Object.fromEntries(values);
}

/** The decision that a row of the decisions table holds. */
export function decisionFromRow(row: Readonly<Record<string, unknown>>): Decision {
  const fields = DECISION_COLUMNS.flatMap(({ column, field, type }) => {
    const value = row[column] as ColumnValue;
    return value === null ? [] : [[field, fromColumn(type, value)]];
  });
  return create(DecisionSchema, Object.fromEntries(fields));
}

function toColumn(type: ColumnType, value: string | number | undefined): ColumnValue {
  if (type === 'value') return DecisionValue[value as DecisionValue];
  if (type === 'frequency') return value ? PaymentFrequency[value as PaymentFrequency] : null;
  return value ?? null;
}

function fromColumn(type: ColumnType, value: string | number): string | number {
  if (type === 'value') return DecisionValue[value as keyof typeof DecisionValue];
  if (type === 'frequency') return PaymentFrequency[value as keyof typeof PaymentFrequency];
  return value;
}
