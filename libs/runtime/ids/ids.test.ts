import { afterEach, expect, test, vi } from 'vitest';
import { idOfName, isCanonicalUuid, isUuid, newId } from './ids.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

afterEach(() => {
  vi.useRealTimers();
});

test('an id is a UUID of version 7 with the time of its creation', () => {
  const beforeMs = Date.now();
  const id = newId();
  expect(id).toMatch(UUID_V7);
  const madeMs = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
  expect(madeMs).toBeGreaterThanOrEqual(beforeMs);
  expect(madeMs).toBeLessThanOrEqual(Date.now());
});

test('ids sort in the order of their creation, also within one millisecond', () => {
  vi.useFakeTimers({ now: Date.now() + 60_000 });
  const ids = Array.from({ length: 10_000 }, newId);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test('ids keep their order when the clock steps back', () => {
  vi.useFakeTimers({ now: Date.now() + 120_000 });
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
