import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { stablePrefix, type WrittenRow } from './written-events.ts';

const row = (id: number, fields: Partial<WrittenRow> = {}): WrittenRow => {
  const stable = { ageSeconds: 20, published: true, lowerIdsMayCommit: false };
  return { id, shard: 0, eventId: randomUUID(), ...stable, ...fields };
};
/** The ids that count, of rows after the position 10. */
const stableIds = (...rows: WrittenRow[]) => stablePrefix(rows, 10).map(({ id }) => id);

test('published rows without a gap are all stable', () => {
  const young = { lowerIdsMayCommit: true };
  expect(stableIds(row(11, young), row(12, young))).toEqual([11, 12]);
});

test('a row after a gap waits for the transactions that may fill it', () => {
  const young = { lowerIdsMayCommit: true };
  expect(stableIds(row(11), row(13, young), row(14, young))).toEqual([11]);
  expect(stableIds(row(12, young))).toEqual([]);
  expect(stableIds(row(11), row(13), row(14, young))).toEqual([11, 13, 14]);
});

test('during an outage of the bus, the first row that is not published ends the part, however old it is', () => {
  const waiting = { published: false, ageSeconds: 3_600 };
  expect(stableIds(row(11), row(12, waiting), row(13, waiting))).toEqual([11]);
});

test('a row that later ones of its shard have overtaken counts after 40 seconds', () => {
  const overtaken = (ageSeconds: number, shard: number) =>
    stableIds(row(11, { published: false, ageSeconds }), row(12, { shard }));
  expect(overtaken(39, 0)).toEqual([]);
  expect(overtaken(40, 0)).toEqual([11, 12]);
  // Shards are published independently.
  expect(overtaken(40, 1)).toEqual([]);
});
