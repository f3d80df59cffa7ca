/** What code leaves in V8's old generation, which only the collection of the whole heap frees. */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { type: 'minor' }) => void;

/** More than the usual 335; a function that is kept for each call leaves 2,318 and more. */
export const FEW_OLD_BYTES = 1_000;

const TIMES = 500;
const MIN_ROUNDS = 9;
/** On a busy machine most rounds leave more than FEW_OLD_BYTES, also without a fault. */
const MAX_ROUNDS = 60;
/** The index of the mean that counts, in ascending order. */
const RANK = 2;

/**
 * Resolves to the mean number of unused bytes that each call of `work` leaves in the old generation. An object that V8 has
 * placed there still refers to them, so that a collection of young objects moves them, and takes the longer the more
 * there are. Of several rounds the third least counts: other tests of the process add to most rounds when the machine is busy, and a
 * collection of the whole heap, which is rare, takes from one. There are more rounds until that one is below FEW_OLD_BYTES.
 */
export async function oldBytesOfEach(work: () => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as Collect;
  const collectYoung = () => {
    // A live object becomes old when it survives for the second time.
    collect({ type: 'minor' });
    collect({ type: 'minor' });
  };
  const runRound = async () => {
    collect();
    collectYoung();
    const before = oldBytes();
    for (let i = 0; i < TIMES; i += 1) await work();
    collectYoung();
    return (oldBytes() - before) / TIMES;
  };
  // What only the first call makes belongs to no round. A connection without a request may also be closed during a collection.
  await work();
  const means: number[] = [];
  const thirdLeast = () => means.toSorted((a, b) => a - b)[RANK] ?? Infinity;
  while (
    means.length < MIN_ROUNDS ||
    (thirdLeast() >= FEW_OLD_BYTES && means.length < MAX_ROUNDS)
  ) {
    means.push(await runRound());
  }
  return thirdLeast();
}

function oldBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  if (space === undefined) throw new Error('V8 reports no space named old_space');
  return space.space_used_size;
}
