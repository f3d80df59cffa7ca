import { NIL_UUID } from '@creditlane/runtime/ids';
import { expect, test } from 'vitest';
import { cursorAfter, idAfter, type ListKey, newestBefore, sequenceBefore } from './list-cursor.ts';

const LIST: ListKey = ['users', 'R1', true];
const ID = '0198c0de-0000-7000-8000-00000000a001';
const AT = '2026-02-28T23:59:59.123456Z';
const refused = expect.objectContaining({
  kind: 'invalid',
  code: 'invalid_cursor',
  fields: [{ pointer: '/cursor', message: expect.any(String) }],
});

test('a cursor leads its own list to the position after which it was made', () => {
  const cursor = cursorAfter(LIST, [AT, ID]);
  expect(newestBefore(cursor, LIST)).toEqual({ at: AT, id: ID });
  expect(idAfter(cursorAfter(LIST, [ID]), LIST)).toBe(ID);
  expect(cursor).toMatch(/^[\w-]+$/);
});

test('cursors that earlier versions have made lead to their positions', () => {
  const ofIds = 'RzZkTjhnSkZHR2s3IDAxOThjMGRlLTAwMDAtNzAwMC04MDAwLTAwMDAwMDAwYTAwMQ';
  expect(idAfter(ofIds, ['users', 'R1', true])).toBe(ID);
  const ofTimes =
    'MVhwRDcxNS1KVG5mIDIwMjYtMDItMjhUMjM6NTk6NTkuMTIzNDU2WiAwMTk4YzBkZS0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMGEwMDE';
  expect(newestBefore(ofTimes, ['deliveries', 'D1', undefined, 'x'])).toEqual({ at: AT, id: ID });
  expect(sequenceBefore('V21KdWlZZENISkFnIDE3', ['decisions', 'A1', 'C1'])).toBe(17);
});

test('an empty cursor leads to the first page', () => {
  expect(idAfter('', LIST)).toBe(NIL_UUID);
  expect(newestBefore('', LIST)).toEqual({ at: 'infinity', id: NIL_UUID });
  expect(sequenceBefore('', LIST)).toBeGreaterThan(2 ** 31 - 1);
});

test('the first page of a list with only what is before a time begins there', () => {
  expect(newestBefore('', LIST, AT)).toEqual({ at: AT, id: NIL_UUID });
  const later = '2026-02-27T00:00:00.000000Z';
  expect(newestBefore(cursorAfter(LIST, [later, ID]), LIST, AT)).toEqual({ at: later, id: ID });
});

test.each<[string, ListKey]>([
  ['another list', ['retailers', 'R1', true]],
  ['another owner', ['users', 'R2', true]],
  ['another filter', ['users', 'R1', false]],
  ['no filter', ['users', 'R1', undefined]],
  ['the filter in another place', ['users', 'R1', undefined, true]],
])('a cursor of %s is refused', (_, other) => {
  const cursor = cursorAfter(other, [ID]);
  expect(idAfter(cursor, other)).toBe(ID);
  expect(() => idAfter(cursor, LIST)).toThrow(refused);
});

test('a position with a wrong value, or with too many or too few, is refused', () => {
  for (const position of [['x'], [ID.toUpperCase()], [], [ID, ID], ['']]) {
    expect(() => idAfter(cursorAfter(LIST, position), LIST), `${position}`).toThrow(refused);
  }
  for (const position of [[AT, 'x'], [AT], [AT, ID, ID], [ID, AT]]) {
    expect(() => newestBefore(cursorAfter(LIST, position), LIST), `${position}`).toThrow(refused);
  }
});

test('a cursor that is changed in any character, cut or extended is refused', () => {
  const cursor = cursorAfter(LIST, [ID]);
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
    expect(() => idAfter(text, LIST), text).toThrow(refused);
  }
});

test('a text that no list made is refused', () => {
  for (const text of ['25', 'not one', Buffer.from('seq:4').toString('base64url'), 'é']) {
    expect(() => idAfter(text, LIST), text).toThrow(refused);
  }
});

test.each([1, 25, 2 ** 31 - 1])(
  'a cursor after sequence %i leads to the sequences under it',
  (seq) => {
    expect(sequenceBefore(cursorAfter(LIST, [String(seq)]), LIST)).toBe(seq);
  },
);

test.each(['', '0', '-1', '9999999999', '1.5', '1 OR true'])(
  'a cursor after the sequence "%s" is refused',
  (text) => {
    expect(() => sequenceBefore(cursorAfter(LIST, [text]), LIST)).toThrow(refused);
  },
);

test.each([
  '2026-02-30T12:00:00.000000Z',
  '2026-13-01T12:00:00.000000Z',
  '2026-02-28T12:61:00.000000Z',
  '0000-01-01T00:00:00.000000Z',
  '2026-02-28T12:00:00.000Z',
  '2026-02-28T12:00:00.000000+01',
  '2026-02-28',
  'infinity',
  '',
])(
  'a cursor after the time "%s", which no list gives or which does not exist, is refused',
  (text) => {
    expect(() => newestBefore(cursorAfter(LIST, [text, ID]), LIST)).toThrow(refused);
  },
);
