import { expect, test } from 'vitest';
import { refusedFields } from './validation-messages.ts';

const wrongFields = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ pointer: `/ids/${n}`, message: 'must be a UUID' }));

test('the first twenty wrong fields are named, and the message tells how many others there are', () => {
  const { message, fields } = refusedFields(wrongFields(23));
  expect(fields).toEqual(wrongFields(20));
  expect(message).toMatch(
    /^ids\[0\]: must be a UUID; .*; ids\[19\]: must be a UUID; and 3 more fields$/,
  );
  expect(refusedFields(wrongFields(21)).message).toMatch(/; and 1 more field$/);
});

test('twenty wrong fields are all named', () => {
  expect(refusedFields(wrongFields(20)).message).toMatch(/; ids\[19\]: must be a UUID$/);
});
