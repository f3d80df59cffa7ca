/** Checks a history against the promises D1 to D7. */
import { type History, splitBySubmission } from './history.ts';
import type { Rule, Violation } from './violation.ts';
import {
  findChangedAttempts,
  findInvalidSignatures,
  findLostWebhooks,
  findReorderedWebhooks,
  findResentWebhooks,
  findWebhookGaps,
  findWrongWebhookPaths,
} from './webhook-rules.ts';
import {
  findDivergence,
  findDuplicates,
  findLostWrites,
  findPhantoms,
  findReorderedWrites,
  findSequenceGaps,
} from './write-rules.ts';

const RULES: readonly Rule[] = [
  findLostWrites,
  findPhantoms,
  findDuplicates,
  findReorderedWrites,
  findSequenceGaps,
  findDivergence,
  findLostWebhooks,
  findReorderedWebhooks,
  findWebhookGaps,
  findChangedAttempts,
  findInvalidSignatures,
  findWrongWebhookPaths,
];

/** Returns every violation; an empty list when every promise was kept. */
export function checkHistory(history: History): Violation[] {
  const violations = splitBySubmission(history).flatMap((part) =>
    RULES.flatMap((rule) => rule(part)),
  );
  // A crash explains resent webhooks of all submissions together, so this rule needs the whole history.
  return [...violations, ...findResentWebhooks(history)];
}
