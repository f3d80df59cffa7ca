import { afterEach, expect, test, vi } from 'vitest';
import { idOfName, isCanonicalUuid, isUuid, newId } from './ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const timeOf = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

afterEach(() => {
  vi.useRealTimers();
});

test('an id is a UUID of version 7 with the time of its creation', () => {
  // Other test files of this process may have made ids while their clock was ahead.
  const nowMs = Math.max(Date.now(), timeOf(newId())) + 1;
  vi.useFakeTimers({ now: nowMs });
  const id = newId();
  expect(id).toMatch(UUID_V7);
  expect(timeOf(id)).toBe(nowMs);
});

test('ids sort in the order of their creation, also within one millisecond', () => {
  // At the present time: ids never go back, so a clock set ahead would also move the ids of later test files of this process.
  vi.useFakeTimers();
  const ids = Array.from({ length: 10_000 }, newId);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids keep their order when the clock steps back', () => {
  vi.useFakeTimers();
  const before = newId();
  vi.setSystemTime(Date.now() - 3_600_000);
  expect(newId() > before).toBe(true);
});

test('a UUID is recognised in either case and of any version', () => {
  expect(isUuid(newId())).toBe(true);
  expect(isCanonicalUuid(newId())).toBe(true);
  expect(isUuid('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6')).toBe(true);
  expect(isCanonicalUuid('F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6')).toBe(false);
  for (const text of ['', 'R-17', 'f81d4fae7dec11d0a76500a0c91e6bf6', `${newId()}\n`]) {
    expect(isUuid(text)).toBe(false);
  }
});

test('an id of a name is a UUID of version 8 that depends on every part of the name', () => {
  const id = idOfName('ab', Uint8Array.of(1), 'c');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(idOfName('ab', Uint8Array.of(1), 'c')).toBe(id);
  expect(idOfName('a', 'b')).not.toBe(idOfName('ab'));
  expect(idOfName('a', 'bc')).not.toBe(idOfName('ab', 'c'));
});
