/** A decision as the columns of its row, and back. */
import { create } from '@bufbuild/protobuf';
import { PaymentFrequency } from '@creditlane/proto/common/v1/terms';
import {
  type Decision,
  DecisionSchema,
  DecisionValue,
} from '@creditlane/proto/decisions/v1/decision';
import { type ColumnType, DECISION_COLUMNS } from './tables.ts';

/** What a column of a decision holds. Enum values stand by name, so that a row can be read. */
type Cell = string | number | null;

/** The decision's cells in the order of DECISION_COLUMNS; what was not given is null. */
export function decisionCells(decision: Decision): Cell[] {
  return DECISION_COLUMNS.map(({ field, type }) => toCell(type, decision[field]));
}

/** The decision that a row of the decisions table holds. */
export function decisionFromRow(row: Readonly<Record<string, unknown>>): Decision {
  const fields = DECISION_COLUMNS.flatMap(({ column, field, type }) => {
    const cell = row[column] as Cell;
    return cell === null ? [] : [[field, fromCell(type, cell)]];
  });
  return create(DecisionSchema, Object.fromEntries(fields));
}

function toCell(type: ColumnType, value: string | number | undefined): Cell {
  if (type === 'value') return DecisionValue[value as DecisionValue];
  if (type === 'frequency') return value ? PaymentFrequency[value as PaymentFrequency] : null;
  return value ?? null;
}

function fromCell(type: ColumnType, cell: string | number): string | number {
  if (type === 'value') return DecisionValue[cell as keyof typeof DecisionValue];
  if (type === 'frequency') return PaymentFrequency[cell as keyof typeof PaymentFrequency];
  return cell;
}
