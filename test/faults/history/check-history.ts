/** Judges whether a history is one that Creditlane promises: the rules D1 to D7, and nothing else. */
import { chaptersOf, type History } from './history.ts';
import type { Judge, Offence } from './violation.ts';
import {
  findChanges,
  findForgeries,
  findGapsInWebhooks,
  findInvertedWebhooks,
  findOtherWebhooks,
  findResent,
  findUntold,
} from './webhook-rules.ts';
import {
  findDivergence,
  findDuplicates,
  findGapsInHistory,
  findInvertedWrites,
  findLostWrites,
  findPhantoms,
} from './write-rules.ts';

const JUDGES: readonly Judge[] = [
  findLostWrites,
  findPhantoms,
  findDuplicates,
  findInvertedWrites,
  findGapsInHistory,
  findDivergence,
  findUntold,
  findInvertedWebhooks,
  findGapsInWebhooks,
  findChanges,
  findForgeries,
  findOtherWebhooks,
];

/** Every offence in a history; none where all that was promised was kept. */
export function judge(history: History): Offence[] {
  const ofSubmissions = chaptersOf(history).flatMap((chapter) =>
    JUDGES.flatMap((find) => find(chapter)),
  );
  return [...ofSubmissions, ...findResent(history)];
}
