import { firstIdOfTime, newId } from './ids.ts';

/** A new id as a process makes it whose clock shows this time, given in milliseconds since the epoch. */
export function newIdOfTime(timeMs: number): string {
  return firstIdOfTime(timeMs).slice(0, 13) + newId().slice(13);
}
