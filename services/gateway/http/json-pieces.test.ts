import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeInPieces } from './json-pieces.ts';

test('any object is encoded as JSON.stringify encodes it', async () => {
  const member = fc.oneof(
    fc.jsonValue(),
    fc.array(fc.jsonValue()),
    fc.array(fc.constantFrom('\u0001'.repeat(12_000), '😀"'), { maxLength: 4 }),
    fc.constant(undefined),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), member, { noNullPrototype: true, maxKeys: 4 }),
      async (object) => {
        expect((await encodeInPieces(object)).toString()).toBe(JSON.stringify(object));
      },
    ),
    { seed: 20_260_331, numRuns: 40 },
  );
});

test('a long list lets the event loop do other work between its items', async () => {
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const items = 20;
  const bytes = await encodeInPieces({ submissions: Array(items).fill('\u0001'.repeat(20_000)) });
  clearImmediate(counting);
  expect(bytes).toHaveLength(items * (6 * 20_000 + 3) + '{"submissions":[]}'.length - 1);
  expect(turns).toBeGreaterThanOrEqual(items - 1);
});

test('a short answer is encoded at once', async () => {
  expect(await encodeInPieces({ data: [{ a: 1 }], nextCursor: null })).toBe(
    '{"data":[{"a":1}],"nextCursor":null}',
  );
});
