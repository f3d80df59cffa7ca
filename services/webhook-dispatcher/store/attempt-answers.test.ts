import { expect, test } from 'vitest';
import { leasedDelivery, resultOf } from '../test-deliveries.ts';
import { insertAnswersQueries } from './attempt-answers.ts';

const results = (count: number, status: number, sealedAnswer?: Buffer) =>
  Array.from({ length: count }, () => ({
    ...resultOf(leasedDelivery(), status),
    ...(sealedAnswer && { sealedAnswer }),
  }));

test('results without an answer need no statement', () => {
  expect(insertAnswersQueries([...results(2, 200), ...results(2, 500)])).toEqual([]);
});

test('a statement inserts 128 answers at most, and together they insert all', () => {
  const answered = results(300, 500, Buffer.from('sealed'));
  const queries = insertAnswersQueries([...results(100, 200), ...answered]);
  const ids = queries.map(({ config }) => config.values[0] as string[]);
  expect(ids.map(({ length }) => length)).toEqual([128, 128, 44]);
  expect(ids.flat()).toEqual(answered.map(({ delivery }) => delivery.id));
});
