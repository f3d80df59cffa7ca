import { describe, expect, test } from 'vitest';
import { type EventMessage, split } from './message.ts';

const message = (key: string, bytes: number): EventMessage => ({
  topic: 'creditlane.decisions.v1',
  key,
  headers: {},
  value: new Uint8Array(bytes),
});
const keysOf = (batches: Iterable<EventMessage[]>) =>
  [...batches].map((batch) => batch.map(({ key }) => key).join(''));

describe('messages are split in their order', () => {
  test('into batches of limited bytes, a larger message alone', () => {
    const sizes = [300, 300, 300, 5_000, 100];
    const messages = sizes.map((bytes, n) => message('abcde'.charAt(n), bytes));
    expect(keysOf(split(messages, { maxBytes: 1_000 }))).toEqual(['ab', 'c', 'd', 'e']);
  });

  test('into batches of limited length', () => {
    const messages = [...'abcde'].map((key) => message(key, 0));
    const limits = { maxBytes: 10_000, maxMessages: 2 };
    expect(keysOf(split(messages, limits))).toEqual(['ab', 'cd', 'e']);
    expect(keysOf(split([], limits))).toEqual([]);
  });
});
