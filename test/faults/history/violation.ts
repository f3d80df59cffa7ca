import type { History } from './history.ts';

/** What can be wrong with a history. D1 to D7 are the numbers of the promises that are broken. */
export type ViolationKind =
  /** D1: an accepted write is not stored, or its webhook never reached the receiver. */
  | 'lost'
  /** D2: a decision was stored or shown that was never written, or whose write was refused. */
  | 'phantom'
  /** D3: one write had two effects. */
  | 'duplicated'
  /** D4, D7: decisions or first deliveries are in another order than their writes. */
  | 'reordered'
  /** D4: sequence numbers are not 1, 2, 3 … */
  | 'gap'
  /** D5: a later attempt has another body, sequence or id. */
  | 'changed'
  /** D5: a webhook's signatures do not verify. */
  | 'forged'
  /** D6: a webhook was sent again after its success was recorded, or without a reason. */
  | 'resent'
  /** D7: database, events, API and webhooks differ. */
  | 'divergent';

export interface Violation {
  kind: ViolationKind;
  message: string;
  /** The entries of the history that show the violation. */
  evidence: object[];
}

/** Finds the violations of one rule in the history of one submission. */
export type Rule = (history: History) => Violation[];

export function makeViolation(
  kind: ViolationKind,
  message: string,
  ...evidence: object[]
): Violation {
  return { kind, message, evidence };
}

/** The text of a violation for the log of a failed run. */
export function formatViolation({ kind, message, evidence }: Violation): string {
  const lines = evidence.map((entry) => `    ${JSON.stringify(entry)}`);
  return [`${kind}: ${message}`, ...lines].join('\n');
}
