import type { TurnCaller } from '@creditlane/runtime/concurrency/turns';
import { expect, test } from 'vitest';
import { isLockTimeout } from './error-classes.ts';
import { RowTurns } from './row-turns.ts';

/** Runs writes that end when the test says so, and records which have started. */
function recordTurns(connections: number, waitMs = 60_000) {
  const turns = new RowTurns({ connections, waitMs });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const write = (name: string, caller?: TurnCaller) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    const [row = ''] = name.split(' ');
    return turns.run(
      row,
      async () => {
        started.push(name);
        await promise;
        return name;
      },
      caller,
    );
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { turns, started, write, end };
}

test('of eight connections two writes of a row run at a time, and the others start in their order', async () => {
  const { turns, started, write, end } = recordTurns(8);
  const writes = ['a 1', 'a 2', 'a 3', 'a 4'].map((name) => write(name));
  await end('nothing');
  expect(started).toEqual(['a 1', 'a 2']);
  expect(turns.waiting).toBe(2);
  await end('a 2');
  expect(started).toEqual(['a 1', 'a 2', 'a 3']);
  await end('a 1');
  for (const name of ['a 3', 'a 4']) await end(name);
  expect(await Promise.all(writes)).toEqual(['a 1', 'a 2', 'a 3', 'a 4']);
  expect(turns.waiting).toBe(0);
});

test('writes use half of the connections, and rows have their turns one after the other', async () => {
  const { started, write, end } = recordTurns(4);
  const writes = ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1'].map((name) => write(name));
  await end('nothing');
  expect(started).toEqual(['a 1', 'b 1']);
  await end('a 1');
  expect(started.slice(2)).toEqual(['a 2']);
  await end('a 2');
  expect(started.slice(3)).toEqual(['c 1']);
  for (const name of ['b 1', 'c 1', 'b 2', 'a 3', 'a 4']) await end(name);
  expect(await Promise.all(writes)).toHaveLength(7);
});

test.each([
  [1, 1],
  [2, 1],
  [3, 1],
  [8, 2],
  [10, 3],
  [200, 3],
])('of %i connections the writes of one row take %i', async (connections, expected) => {
  const { started, write, end } = recordTurns(connections);
  const names = ['a 1', 'a 2', 'a 3', 'a 4'];
  const writes = names.map((name) => write(name));
  await end('nothing');
  expect(started).toHaveLength(expected);
  for (const name of names) await end(name);
  await Promise.all(writes);
});

test('a write that has no turn in time is not run, and its place is given to no other', async () => {
  const { turns, started, write, end } = recordTurns(2, 20);
  const first = write('a 1');
  await expect(write('a 2')).rejects.toSatisfy(isLockTimeout);
  const third = write('b 1');
  expect(turns.waiting).toBe(1);
  await end('a 1');
  await end('b 1');
  await Promise.all([first, third]);
  expect(started).toEqual(['a 1', 'b 1']);
});

test('a write that fails gives its turn to the next', async () => {
  const { turns, write, end } = recordTurns(2);
  const failing = turns.run('a', () => Promise.reject(new Error('refused')));
  const next = write('a 1');
  await expect(failing).rejects.toThrow('refused');
  await end('a 1');
  expect(await next).toBe('a 1');
});

test('a write whose caller leaves before its turn is not run, and its place is given to no other', async () => {
  const { turns, started, write, end } = recordTurns(2);
  const caller = new AbortController();
  const first = write('a 1');
  const left = write('a 2', caller);
  const last = write('a 3');
  caller.abort(new Error('the caller left'));
  await expect(left).rejects.toThrow('the caller left');
  expect(turns.waiting).toBe(1);
  await expect(write('b 1', caller)).rejects.toThrow('the caller left');
  await end('a 1');
  await end('a 3');
  await Promise.all([first, last]);
  expect(started).toEqual(['a 1', 'a 3']);
});

test('a write whose caller leaves keeps its turn until it has ended', async () => {
  const { started, write, end } = recordTurns(2);
  const caller = new AbortController();
  const first = write('a 1', caller);
  const next = write('a 2');
  caller.abort();
  await end('nothing');
  expect(started).toEqual(['a 1']);
  await end('a 1');
  await end('a 2');
  expect(await Promise.all([first, next])).toEqual(['a 1', 'a 2']);
});

test('of the writes that wait for a row, those of its callers start in turns', async () => {
  const { started, write, end } = recordTurns(2);
  const [one, two] = ['one', 'two'].map((subject) => ({ identity: { subject } }));
  const names = ['a 1', 'a 2', 'a 3', 'a 4'];
  const writes = names.map((name) => write(name, one));
  writes.push(write('a 5', two), write('a 6', two), write('a 7'));
  for (const name of ['a 1', 'a 2', 'a 5', 'a 7', 'a 3', 'a 6', 'a 4']) await end(name);
  await Promise.all(writes);
  expect(started).toEqual(['a 1', 'a 2', 'a 5', 'a 7', 'a 3', 'a 6', 'a 4']);
});
