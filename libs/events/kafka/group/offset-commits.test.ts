import type { EachBatchPayload } from 'kafkajs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OffsetCommits } from './offset-commits.ts';

/** The broker's side of commits: what was resolved, what was committed, and the answers that are held back. */
class Offsets {
  readonly resolved: string[] = [];
  readonly committed: string[][] = [];
  answer: Promise<void> = Promise.resolve();

  readonly uncommittedOffsets = () => {
    const partitions = this.resolved.map((offset, partition) => ({ partition, offset }));
    return { topics: [{ topic: 'topic', partitions }] };
  };

  readonly commitOffsetsIfNecessary: EachBatchPayload['commitOffsetsIfNecessary'] = async () => {
    this.committed.push([...this.resolved]);
    await this.answer;
  };
}

let offsets: Offsets;
let commits: OffsetCommits;
beforeEach(() => {
  offsets = new Offsets();
  commits = new OffsetCommits();
  vi.useFakeTimers();
});
afterEach(() => {
  commits.stop();
  vi.useRealTimers();
});

function handle(offset: string): void {
  offsets.resolved.push(offset);
  commits.request(offsets);
}

test('offsets of one turn, and those of the pause after a commit, are committed together', async () => {
  handle('1');
  handle('2');
  await vi.advanceTimersByTimeAsync(0);
  expect(offsets.committed).toEqual([['1', '2']]);
  handle('3');
  await vi.advanceTimersByTimeAsync(50);
  handle('4');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(offsets.committed).toEqual([
    ['1', '2'],
    ['1', '2', '3', '4'],
  ]);
});

test('messages handled during a commit are committed after it', async () => {
  const answer = Promise.withResolvers<void>();
  offsets.answer = answer.promise;
  handle('1');
  await vi.advanceTimersByTimeAsync(0);
  handle('2');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(offsets.committed).toEqual([['1']]);
  answer.resolve();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(offsets.committed).toEqual([['1'], ['1', '2']]);
});

test('a flush commits beside the commit under way', async () => {
  const answer = Promise.withResolvers<void>();
  offsets.answer = answer.promise;
  handle('1');
  await vi.advanceTimersByTimeAsync(0);
  offsets.answer = Promise.resolve();
  handle('2');
  await commits.flush();
  expect(offsets.committed).toEqual([['1'], ['1', '2']]);
  answer.resolve();
});

test('a commit that fails is thrown to the next batch once, and repeated without one', async () => {
  offsets.answer = Promise.reject(new Error('no coordinator'));
  handle('1');
  await vi.advanceTimersByTimeAsync(0);
  expect(() => commits.throwIfFailed()).toThrow('no coordinator');
  offsets.answer = Promise.resolve();
  commits.throwIfFailed();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(offsets.committed).toHaveLength(2);
});

test('a flush whose commit fails rejects', async () => {
  offsets.answer = Promise.reject(new Error('no coordinator'));
  handle('1');
  await expect(commits.flush()).rejects.toThrow('no coordinator');
});

test('a commit is not repeated after a stop', async () => {
  offsets.answer = Promise.reject(new Error('no coordinator'));
  handle('1');
  await vi.advanceTimersByTimeAsync(0);
  commits.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(offsets.committed).toHaveLength(1);
});
