/** For tests: random choices that a seed repeats. */
export type Random = () => number;

/** Pseudo-random numbers in [0, 1) by mulberry32; the same seed gives the same sequence. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A random element. Throws when there are none. */
export function pickOne<T>(random: Random, choices: readonly T[]): T {
  if (choices.length === 0) throw new Error('pickOne needs at least one choice');
  return choices[Math.floor(random() * choices.length)] as T;
}
