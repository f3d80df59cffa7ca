import { expect, test } from 'vitest';
import { AdaptiveLimit } from './adaptive-limit.ts';
import { DestinationQueue } from './destination-queue.ts';
import { Turns } from './turns.ts';

const limited = new Set<string>();
const destination = (id: string) => new DestinationQueue(id, new AdaptiveLimit(1));

function idsInTurn(turns: Turns): string[] {
  const ids: string[] = [];
  for (let next = turns.next(); next !== undefined; next = turns.next()) ids.push(next.id);
  return ids;
}

test('every second turn is that of a limited destination, in the order in which they were queued', () => {
  limited.clear();
  for (const id of ['limited 1', 'limited 2']) limited.add(id);
  const turns = new Turns(limited);
  for (const id of ['a', 'b', 'c', 'limited 1', 'limited 2', 'd']) turns.add(destination(id));
  const ids = idsInTurn(turns);
  expect(ids.filter((id) => !limited.has(id))).toEqual(['a', 'b', 'c', 'd']);
  expect(ids.slice(0, 4).filter((id) => limited.has(id))).toEqual(['limited 1', 'limited 2']);
});

test('a destination waits for one turn, also when its limit is set meanwhile', () => {
  limited.clear();
  const turns = new Turns(limited);
  const one = destination('one');
  turns.add(one);
  limited.add('one');
  turns.add(one);
  limited.clear();
  turns.add(one);
  expect(idsInTurn(turns)).toEqual(['one']);
});
