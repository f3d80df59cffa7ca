// A new field of a decision must be added to its message, to DECISION_COLUMNS and to every statement that
// lists the columns. These tests fail until all of them have the field.
import { create } from '@bufbuild/protobuf';
import { DecisionSchema, DecisionValue } from '@creditlane/proto/decisions/v1/decision';
import { describe, expect, test } from 'vitest';
import { selectDecisions, selectLatestDecision } from '../store/decisions.ts';
import { DECISION_COLUMNS, SQL_TYPE } from '../tables.ts';
import { insertDecisionStatement, parametersOf } from './insert-decision.ts';
import { insertDecisionsStatement } from './insert-decisions.ts';

const COLUMNS = DECISION_COLUMNS.map(({ column }) => column);
const TYPES = DECISION_COLUMNS.map(({ type }) => SQL_TYPE[type]);

const id = '0198c0de-0000-7000-8000-000000000001';
const PARAMETERS = parametersOf({
  submission: { applicationId: id, creditorId: id },
  decision: create(DecisionSchema, { decision: DecisionValue.APPROVED, maxPayment: 17 }),
  recordedAt: new Date(0),
  integrationId: id,
  retryToken: id,
  stored: {
    idempotency: { callerId: id, operation: 'op', key: 'key', requestDigest: Buffer.alloc(1) },
    answer: Buffer.alloc(2),
  },
});
const FIRST_COLUMN_PARAMETER = PARAMETERS.length - COLUMNS.length + 1;

/** Every comma-separated list that follows `start` in the statement, up to its bracket or its FROM. */
function listsAfter(start: string, text: string): string[][] {
  const [, ...rests] = text.split(start);
  return rests.map((rest) =>
    (rest.split(/\)|\n +FROM/)[0] ?? '').split(',').map((item) => item.trim()),
  );
}

/** The numbers of the parameters that a statement uses, in rising order. */
function parameterNumbers(text: string): number[] {
  const numbers = text.matchAll(/\$(\d+)/g).map(([, digits]) => Number(digits));
  return [...new Set(numbers)].sort((a, b) => a - b);
}

describe('the statement that inserts one decision', () => {
  const { text } = insertDecisionStatement;

  test('uses every parameter', () => {
    expect(parameterNumbers(text)).toEqual(PARAMETERS.map((_, index) => index + 1));
  });

  test('writes each column, from a parameter of its type', () => {
    expect(listsAfter('integration_id, call_id,\n', text)).toEqual([COLUMNS]);
    expect(listsAfter('$4::uuid, $5::uuid,\n', text)).toEqual([
      TYPES.map((type, index) => `$${FIRST_COLUMN_PARAMETER + index}::${type}`),
    ]);
  });
});

describe('the statement that inserts many decisions', () => {
  const { text } = insertDecisionsStatement;

  test('uses every parameter', () => {
    expect(parameterNumbers(text)).toEqual(PARAMETERS.map((_, index) => index + 1));
  });

  test('writes each column, from a list of its type', () => {
    expect(listsAfter('integration_id, call_id,\n', text)).toEqual([COLUMNS, COLUMNS]);
    const lists = [...text.matchAll(/\(\$(\d+)::(\w+)\[\]\)\[place\] AS (\w+)/g)];
    expect(lists.slice(-COLUMNS.length).map((list) => list.slice(1))).toEqual(
      COLUMNS.map((column, index) => [`${FIRST_COLUMN_PARAMETER + index}`, TYPES[index], column]),
    );
  });
});

test('the statements that read decisions read each column', () => {
  expect(listsAfter('SELECT\n', selectLatestDecision.text)).toEqual([COLUMNS]);
  expect(listsAfter('recorded_at, integration_id,\n', selectDecisions.text)).toEqual([COLUMNS]);
});
