import { expect, test } from 'vitest';
import { GrowingBuffer } from './growing-buffer.ts';

test.each([[[]], [[5]], [[0, 3, 0]], [[1, 1, 1, 1]], [[4, 300, 2, 70_000]]])(
  'pieces of %j bytes become one buffer, and stay as they were',
  (lengths) => {
    const pieces = lengths.map((length, index) => Buffer.alloc(length, index + 1));
    const copies = pieces.map((piece) => Buffer.from(piece));
    const buffer = new GrowingBuffer();
    for (const piece of pieces) buffer.append(piece);
    expect(buffer.bytes()).toEqual(Buffer.concat(copies));
    expect(buffer.length).toBe(buffer.bytes().length);
    expect(pieces).toEqual(copies);
  },
);
