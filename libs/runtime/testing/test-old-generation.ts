/** What code leaves in V8's old generation, which only the collection of the whole heap frees. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { getHeapSpaceStatistics } from 'node:v8';

/** Between the usual 130 to 330 and the 1,740 and more of a function that is kept for each call. */
export const FEW_OLD_BYTES = 1_000;

const CALLS = 500;
const ROUNDS = 5;

/**
 * Resolves to the mean number of unused bytes that each call leaves in the old generation, in the median round of those
 * that `program` prints with `printOldBytes`. The program has a process of its own: in one that has run other
 * tests, V8 may place more objects in the old generation for good.
 */
export async function oldBytesOfEach(program: URL, ...args: string[]): Promise<number> {
  const flags = ['--expose-gc', fileURLToPath(program), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, flags);
  const means: number[] = JSON.parse(stdout);
  // Less is left in a round in which V8 collects the whole heap.
  const median = means.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)];
  if (median === undefined) throw new Error(`${program} printed no means`);
  return median;
}

/**
 * Called by the program that `oldBytesOfEach` runs. Prints, for each of several rounds, the mean number of unused bytes that a call of `work` leaves
 * in the old generation. An object that V8 has placed there still refers to them, so that a collection of young
 * objects moves them, and takes the longer the more there are.
 */
export async function printOldBytes(work: () => Promise<unknown>): Promise<void> {
  const means: number[] = [];
  // What only the first call makes belongs to no round.
  await work();
  for (let round = 0; round < ROUNDS; round += 1) {
    collect();
    collectYoung();
    const before = oldBytes();
    for (let call = 0; call < CALLS; call += 1) await work();
    collectYoung();
    means.push((oldBytes() - before) / CALLS);
  }
  process.stdout.write(JSON.stringify(means));
}

/** A live object becomes old when it survives for the second time. */
function collectYoung(): void {
  collect({ type: 'minor' });
  collect({ type: 'minor' });
}

function collect(options: NodeJS.GCOptions = { type: 'major' }): void {
  if (globalThis.gc === undefined) throw new Error('Node runs without --expose-gc');
  globalThis.gc(options);
}

function oldBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  if (space === undefined) throw new Error('V8 reports no space named old_space');
  return space.space_used_size;
}
