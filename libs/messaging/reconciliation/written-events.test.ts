import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { settledPrefix, type WrittenRow } from './written-events.ts';

const row = (id: number, fields: Partial<WrittenRow> = {}): WrittenRow => {
  return { id, shard: 0, eventId: randomUUID(), ageS: 20, published: true, ...fields };
};
/** The ids that count, of rows after the position 10. */
const settledIds = (...rows: WrittenRow[]) => settledPrefix(rows, 10).map(({ id }) => id);

test('published rows without a gap are settled', () => {
  expect(settledIds(row(11, { ageS: 5 }), row(12, { ageS: 6 }))).toEqual([11, 12]);
});

test('a young row after a gap waits for the transaction that may fill it, an old one does not', () => {
  expect(settledIds(row(11), row(13, { ageS: 14 }), row(14, { ageS: 14 }))).toEqual([11]);
  expect(settledIds(row(12, { ageS: 14 }))).toEqual([]);
  expect(settledIds(row(11), row(13, { ageS: 15 }), row(14, { ageS: 6 }))).toEqual([11, 13, 14]);
});

test('during an outage of the bus, the first row that is not published ends the part, however old it is', () => {
  const waiting = { published: false, ageS: 3_600 };
  expect(settledIds(row(11), row(12, waiting), row(13, waiting))).toEqual([11]);
});

test('a row that later ones of its shard have overtaken counts after ten minutes', () => {
  const overtaken = (ageS: number, shard: number) =>
    settledIds(row(11, { published: false, ageS }), row(12, { shard }));
  expect(overtaken(599, 0)).toEqual([]);
  expect(overtaken(600, 0)).toEqual([11, 12]);
  // Shards are published independently.
  expect(overtaken(600, 1)).toEqual([]);
});
