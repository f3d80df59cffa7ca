/**
 * Several ids as one text, which identifies a lane, a series or a counter in maps and sets. The SQL of the intake depends on
 * the form: the texts are split again into the parameters of a statement, and their order is the order in which lanes are
 * locked, so that two processes that lock the same lanes cannot deadlock.
 */
export const joinIds = (...ids: readonly string[]): string => ids.join(' ');

/** Splits texts of `count` ids each into one array for each place of an id. */
export function splitIds(joined: Iterable<string>, count: number): string[][] {
  const split = [...joined].map((ids) => ids.split(' '));
  return Array.from({ length: count }, (_, n) => split.map((ids) => ids[n] ?? ''));
}
