/** Numbers in [0, 1) that a seed gives again in the same order (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of several, by chance. */
export function oneOf<T>(random: () => number, choices: readonly T[]): T {
  if (choices.length === 0) throw new Error('there is nothing to choose from');
  return choices[Math.floor(random() * choices.length)] as T;
}
