import { expect, test } from 'vitest';
import { cursorAfter, seqBefore } from './sequence-cursor.ts';

test.each([1, 25, 2 ** 31 - 1])(
  'a cursor after sequence %i leads to the sequences under it',
  (seq) => {
    expect(seqBefore(cursorAfter(seq))).toBe(seq);
  },
);

test('an empty cursor leads to the newest records', () => {
  expect(seqBefore('')).toBeGreaterThan(2 ** 31 - 1);
});

const encoded = (text: string) => Buffer.from(text).toString('base64url');

test.each([
  '25',
  'not one',
  encoded('seq:'),
  encoded('seq:0'),
  encoded('seq:-1'),
  encoded('seq:9999999999'),
  encoded('seq:1 OR true'),
])('a cursor that the service did not make is refused (%s)', (cursor) => {
  expect(() => seqBefore(cursor)).toThrow(
    expect.objectContaining({ kind: 'invalid', code: 'invalid_cursor' }),
  );
});
