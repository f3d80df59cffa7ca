import { expect, test } from 'vitest';
import { cursorAfter, isInstant, type ListKey, positionOf, sequenceBefore } from './list-cursor.ts';

const LIST: ListKey = ['users', 'R1', true];
const isNumber = (text: string) => /^\d+$/.test(text);
const isName = (text: string) => /^[a-z]+$/.test(text);
const refused = expect.objectContaining({
  kind: 'invalid',
  code: 'invalid_cursor',
  fields: [{ pointer: '/cursor', message: expect.any(String) }],
});

test('a cursor leads its own list to the position after which it was made', () => {
  const cursor = cursorAfter(LIST, ['17', 'maya']);
  expect(positionOf(cursor, LIST, [isNumber, isName])).toEqual(['17', 'maya']);
  expect(cursor).toMatch(/^[\w-]+$/);
});

test('an empty cursor leads to the first page', () => {
  expect(positionOf('', LIST, [isNumber])).toBeUndefined();
});

test.each<[string, ListKey]>([
  ['another list', ['retailers', 'R1', true]],
  ['another owner', ['users', 'R2', true]],
  ['another filter', ['users', 'R1', false]],
  ['no filter', ['users', 'R1', undefined]],
  ['the filter in another place', ['users', 'R1', undefined, true]],
])('a cursor of %s is refused', (_, other) => {
  const cursor = cursorAfter(other, ['17']);
  expect(positionOf(cursor, other, [isNumber])).toEqual(['17']);
  expect(() => positionOf(cursor, LIST, [isNumber])).toThrow(refused);
});

test('a position with a wrong value, or with too many or too few, is refused', () => {
  for (const position of [['x'], [], ['17', '18'], ['']]) {
    expect(() => positionOf(cursorAfter(LIST, position), LIST, [isNumber])).toThrow(refused);
  }
});

test('a cursor that is changed in any character, cut or extended is refused', () => {
  const cursor = cursorAfter(LIST, ['17']);
  const changed = [...cursor].map((character, index) => {
    const other = character === 'A' ? 'B' : 'A';
    return cursor.slice(0, index) + other + cursor.slice(index + 1);
  });
  for (const text of [
    ...changed,
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}=`,
    `${cursor}!`,
  ]) {
    expect(() => positionOf(text, LIST, [isNumber]), text).toThrow(refused);
  }
});

test('a text that no list made is refused', () => {
  for (const text of ['25', 'not one', Buffer.from('seq:4').toString('base64url'), 'é']) {
    expect(() => positionOf(text, LIST, [isNumber]), text).toThrow(refused);
  }
});

test.each([1, 25, 2 ** 31 - 1])(
  'a cursor after sequence %i leads to the sequences under it',
  (seq) => {
    expect(sequenceBefore(cursorAfter(LIST, [String(seq)]), LIST)).toBe(seq);
  },
);

test('an empty cursor leads to the highest sequences', () => {
  expect(sequenceBefore('', LIST)).toBeGreaterThan(2 ** 31 - 1);
});

test.each(['', '0', '-1', '9999999999', '1.5', '1 OR true'])(
  'a cursor after the sequence "%s" is refused',
  (text) => {
    expect(() => sequenceBefore(cursorAfter(LIST, [text]), LIST)).toThrow(refused);
  },
);

test('an instant has microseconds, is in UTC and exists', () => {
  expect(isInstant('2026-02-28T23:59:59.123456Z')).toBe(true);
  for (const text of [
    '2026-02-30T12:00:00.000000Z',
    '2026-13-01T12:00:00.000000Z',
    '2026-02-28T12:61:00.000000Z',
    '0000-01-01T00:00:00.000000Z',
    '2026-02-28T12:00:00.000Z',
    '2026-02-28T12:00:00.000000+01',
    '2026-02-28',
    'infinity',
    '',
  ]) {
    expect(isInstant(text), text).toBe(false);
  }
});
