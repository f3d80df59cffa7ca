import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ListKey, sequenceBefore } from './list-cursor.ts';
import { itemsThatFit, MAX_PAGE_BYTES, type Page, pageOf } from './list-page.ts';

const LIST: ListKey = ['comments', 'A1'];

interface Row {
  seq: number;
  text: string;
}

const rowOf = (text: string, seq = 1): Row => ({ seq, text });
const position = ({ seq }: Row) => [String(seq)];
const fitting = (texts: readonly string[]) =>
  itemsThatFit(texts, texts.length, (text) => ({ text })).length;

describe('a page', () => {
  test('holds as many items as asked for, and a cursor only if another page follows', () => {
    const rows = [rowOf('c', 3), rowOf('b', 2), rowOf('a', 1)];
    const { items, nextCursor } = pageOf(LIST, rows, 2, position);
    expect(items).toEqual(rows.slice(0, 2));
    expect(sequenceBefore(nextCursor, LIST)).toBe(2);
    expect(pageOf(LIST, rows, 3, position)).toEqual({ items: rows, nextCursor: '' });
    expect(pageOf(LIST, [], 2, position)).toEqual({ items: [], nextCursor: '' });
  });

  test('makes the items of its own records and of the first that does not fit', () => {
    const made: number[] = [];
    const rows = [3, 2, 1].map((seq) => rowOf('x'.repeat(MAX_PAGE_BYTES / 2), seq));
    pageOf(LIST, rows, 3, position, (row) => {
      made.push(row.seq);
      return row;
    });
    expect(made).toEqual([3, 2]);
  });

  test.each([
    { what: 'ASCII', text: 'x', bytes: 1 },
    { what: 'letters of two bytes', text: 'é', bytes: 2 },
    { what: 'characters of four bytes', text: '😀', bytes: 4 },
    { what: 'characters that JSON escapes', text: '\u0001', bytes: 6 },
    { what: 'halves of a character', text: '\ud83d', bytes: 6 },
  ])('holds $what up to its limit of bytes, as JSON has them', ({ text, bytes }) => {
    const tenth = text.repeat(Math.floor(MAX_PAGE_BYTES / 10 / bytes));
    expect(fitting(Array(20).fill(tenth))).toBe(9);
    // With its name and quotes a record has 12 bytes more than its text.
    expect(fitting(Array(20).fill(tenth.slice(text.length * 12)))).toBe(10);
  });

  test('holds one record when even this one is too long', () => {
    expect(fitting([MAX_PAGE_BYTES, 1].map((length) => 'x'.repeat(length)))).toBe(1);
  });

  test('counts names, nested records and lists', () => {
    const ids = Array(1_000).fill({ creditorId: '0198c0de-0000-7000-8000-00000000c001' });
    const bytes = JSON.stringify({ submissions: ids }).length;
    const count = itemsThatFit(Array(99).fill(ids), 99, (submissions) => ({ submissions })).length;
    expect(count).toBeLessThanOrEqual(MAX_PAGE_BYTES / bytes);
    expect(count).toBeGreaterThan((MAX_PAGE_BYTES / bytes) * 0.6);
  });
});

const text = fc
  .tuple(fc.constantFrom('x', '\u0001', '😀', '"'), fc.integer({ min: 0, max: 20_000 }))
  .map(([character, length]) => character.repeat(length));
const texts = fc.array(text, { maxLength: 40 });

/** What a statement answers: the newest rows under a sequence, read up to a limit of rows and of bytes. */
function read(rows: readonly Row[], before: number, limit: number): Row[] {
  let bytes = 0;
  const found = rows.filter(({ seq }) => seq < before).toReversed();
  const end = found.findIndex((_, index) => {
    bytes += Buffer.byteLength(found[index - 2]?.text ?? '');
    return bytes >= MAX_PAGE_BYTES;
  });
  return found.slice(0, end === -1 ? limit : Math.min(limit, end));
}

test('a walk by cursors answers each record once and in order, while records are added', () => {
  fc.assert(
    fc.property(
      texts,
      fc.array(fc.tuple(fc.integer({ min: 1, max: 100 }), fc.array(text, { maxLength: 3 }))),
      (initial, steps) => {
        const rows = initial.map((it, index) => rowOf(it, index + 1));
        const expected = rows.map(({ seq }) => seq).reverse();
        const walked: number[] = [];
        let page: Page<Row> | undefined;
        for (let step = 0; page?.nextCursor !== ''; step += 1) {
          const [limit, added] = steps[step % Math.max(1, steps.length)] ?? [3, []];
          const before = sequenceBefore(page?.nextCursor ?? '', LIST);
          page = pageOf(LIST, read(rows, before, limit + 1), limit, position);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          expect(page.items.length).toBeGreaterThan(rows.length === 0 ? -1 : 0);
          const bytes = Buffer.byteLength(JSON.stringify(page.items));
          if (page.items.length > 1) expect(bytes).toBeLessThanOrEqual(MAX_PAGE_BYTES);
          walked.push(...page.items.map(({ seq }) => seq));
          for (const it of added) rows.push(rowOf(it, rows.length + 1));
        }
        expect(walked).toEqual(expected);
      },
    ),
    { seed: 20_260_331 },
  );
});
