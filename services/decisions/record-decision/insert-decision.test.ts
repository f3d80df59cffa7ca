// A new field of a decision must be added to its message, to DECISION_COLUMNS and to every statement that
// lists the columns. These tests fail until all of them have the field.
import { expect, test } from 'vitest';
import { selectDecisions, selectLatestDecision } from '../store/decisions.ts';
import { DECISION_COLUMNS, SQL_TYPE } from '../tables.ts';
import { insertDecisionStatement } from './insert-decision.ts';
import { insertDecisionsStatement } from './insert-decisions.ts';

const COLUMNS = DECISION_COLUMNS.map(({ column }) => column);

/** Every comma-separated list that follows `start` in the statement, up to its bracket or its FROM. */
function listsAfter(start: string, text: string): string[][] {
  const [, ...rests] = text.split(start);
  return rests.map((rest) =>
    (rest.split(/\)|\n +FROM/)[0] ?? '').split(',').map((item) => item.trim()),
  );
}

test.each([insertDecisionStatement, insertDecisionsStatement])(
  'the statement $name writes each column, from a value of its type',
  ({ text }) => {
    expect(listsAfter('integration_id, call_id,\n', text)).toEqual([COLUMNS, COLUMNS]);
    expect(listsAfter('response bytea,\n', text)).toEqual([
      DECISION_COLUMNS.map(({ column, type }) => `${column} ${SQL_TYPE[type]}`),
    ]);
  },
);

test('the statements that read decisions read each column', () => {
  expect(listsAfter('SELECT\n', selectLatestDecision.text)).toEqual([COLUMNS]);
  expect(listsAfter('recorded_at, integration_id,\n', selectDecisions.text)).toEqual([COLUMNS]);
});
